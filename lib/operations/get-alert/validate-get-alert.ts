// Generated from schema.ts by `npm run generate`: do not edit.
// @ts-nocheck
const validate = validate10;
var stdin_default = validate10;
const pattern0 = new RegExp("^[0-9a-fA-F]{24}$", "u");
function validate10(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.alert_id === void 0) {
      const err0 = { instancePath, keyword: "required", params: { missingProperty: "alert_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.alert_id !== void 0) {
      let data0 = data.alert_id;
      if (typeof data0 == "string") {
        if (!pattern0.test(data0)) {
          const err1 = { instancePath: instancePath + "/alert_id", keyword: "pattern", params: { pattern: "^[0-9a-fA-F]{24}$" } };
          vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
        }
      } else {
        const err2 = { instancePath: instancePath + "/alert_id", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
      }
    }
  } else {
    const err3 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
  }
  return validate10.errors = vErrors, errors === 0;
}
export {
  stdin_default as default,
  validate
};
