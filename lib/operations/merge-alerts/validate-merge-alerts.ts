// Generated from schema.ts by `npm run generate`: do not edit.
// @ts-nocheck
import { codePoints } from '../../shared/json.ts';
const validate = validate10;
var stdin_default = validate10;
const pattern0 = new RegExp("^[0-9a-fA-F]{24}$", "u"), func2 = codePoints;
function validate10(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.alert_ids === void 0) {
      const err0 = { instancePath, keyword: "required", params: { missingProperty: "alert_ids" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.incident_id === void 0) {
      const err1 = { instancePath, keyword: "required", params: { missingProperty: "incident_id" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.alert_ids !== void 0) {
      let data0 = data.alert_ids;
      if (Array.isArray(data0)) {
        if (data0.length < 1) {
          const err2 = { instancePath: instancePath + "/alert_ids", keyword: "minItems", params: { limit: 1 } };
          vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
        }
        const len0 = data0.length;
        for (let i0 = 0; i0 < len0; i0++) {
          let data1 = data0[i0];
          if (typeof data1 == "string") {
            if (!pattern0.test(data1)) {
              const err3 = { instancePath: instancePath + "/alert_ids/" + i0, keyword: "pattern", params: { pattern: "^[0-9a-fA-F]{24}$" } };
              vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
            }
          } else {
            const err4 = { instancePath: instancePath + "/alert_ids/" + i0, keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
          }
        }
      } else {
        const err5 = { instancePath: instancePath + "/alert_ids", keyword: "type", params: { type: "array" } };
        vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
      }
    }
    if (data.incident_id !== void 0) {
      let data2 = data.incident_id;
      if (typeof data2 == "string") {
        if (!pattern0.test(data2)) {
          const err6 = { instancePath: instancePath + "/incident_id", keyword: "pattern", params: { pattern: "^[0-9a-fA-F]{24}$" } };
          vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
        }
      } else {
        const err7 = { instancePath: instancePath + "/incident_id", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
      }
    }
    if (data.comment !== void 0) {
      let data3 = data.comment;
      if (typeof data3 == "string") {
        if (func2(data3) > 1024) {
          const err8 = { instancePath: instancePath + "/comment", keyword: "maxLength", params: { limit: 1024 } };
          vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
        }
      } else {
        const err9 = { instancePath: instancePath + "/comment", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
      }
    }
    if (data.title !== void 0) {
      let data4 = data.title;
      if (typeof data4 == "string") {
        if (func2(data4) > 512) {
          const err10 = { instancePath: instancePath + "/title", keyword: "maxLength", params: { limit: 512 } };
          vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
        }
      } else {
        const err11 = { instancePath: instancePath + "/title", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
      }
    }
    if (data.owner_id !== void 0) {
      let data5 = data.owner_id;
      if (!((typeof data5 == "bigint" || Number.isSafeInteger(data5)) && data5 >= -9223372036854775808n && data5 <= 9223372036854775807n)) {
        const err12 = { instancePath: instancePath + "/owner_id", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
      }
    }
  } else {
    const err13 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
  }
  return validate10.errors = vErrors, errors === 0;
}
export {
  stdin_default as default,
  validate
};
