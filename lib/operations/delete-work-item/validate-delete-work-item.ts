// Generated from schema.ts by `npm run generate`: do not edit.
// @ts-nocheck
import { codePoints } from '../../shared/json.ts';
const validate = validate10;
var stdin_default = validate10;
const func2 = codePoints;
function validate10(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.work_item_id === void 0) {
      const err0 = { instancePath, keyword: "required", params: { missingProperty: "work_item_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.version === void 0) {
      const err1 = { instancePath, keyword: "required", params: { missingProperty: "version" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.work_item_id !== void 0) {
      let data0 = data.work_item_id;
      if (typeof data0 == "string") {
        if (func2(data0) > 128) {
          const err2 = { instancePath: instancePath + "/work_item_id", keyword: "maxLength", params: { limit: 128 } };
          vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
        }
        if (func2(data0) < 1) {
          const err3 = { instancePath: instancePath + "/work_item_id", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
        }
      } else {
        const err4 = { instancePath: instancePath + "/work_item_id", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
      }
    }
    if (data.version !== void 0) {
      let data1 = data.version;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775806n)) {
        const err5 = { instancePath: instancePath + "/version", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
      }
    }
  } else {
    const err6 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
  }
  return validate10.errors = vErrors, errors === 0;
}
export {
  stdin_default as default,
  validate
};
