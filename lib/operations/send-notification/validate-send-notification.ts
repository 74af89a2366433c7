// Generated from schema.ts by `npm run generate`: do not edit.
// @ts-nocheck
const validate = validate10;
var stdin_default = validate10;
function validate10(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.alerts === void 0) {
      const err0 = { instancePath, keyword: "required", params: { missingProperty: "alerts" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.alerts !== void 0) {
      let data0 = data.alerts;
      if (Array.isArray(data0)) {
        if (data0.length > 25e3) {
          const err1 = { instancePath: instancePath + "/alerts", keyword: "maxItems", params: { limit: 25e3 } };
          vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
        }
      } else {
        const err2 = { instancePath: instancePath + "/alerts", keyword: "type", params: { type: "array" } };
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
