// Generated from schema.ts by `npm run generate`: do not edit.
// @ts-nocheck
const validate = validate10;
var stdin_default = validate10;
function validate10(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.no_cache === void 0 && (data.no_cache = !1), typeof data.no_cache != "boolean") {
      const err0 = { instancePath: instancePath + "/no_cache", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
  } else {
    const err1 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
  }
  return validate10.errors = vErrors, errors === 0;
}
export {
  stdin_default as default,
  validate
};
