// Generated from lib/ingest/lines.ts by `npm run generate`: do not edit.
// @ts-nocheck
import { codePoints } from '../../../lib/shared/json.ts';
const account = validate10, schema11 = { type: "object", required: ["account_id", "name", "permissions"], properties: { kind: { type: "string" }, account_id: { int64: { minimum: 1 } }, name: { type: "string", minLength: 1, maxLength: 512 }, permissions: { type: "array", items: { type: "string", enum: ["monit", "feed"] } }, suspended: { type: "boolean" } }, additionalProperties: !1 }, func2 = codePoints;
function validate10(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.name === void 0) {
      const err1 = { instancePath, keyword: "required", params: { missingProperty: "name" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.permissions === void 0) {
      const err2 = { instancePath, keyword: "required", params: { missingProperty: "permissions" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    for (const key0 in data)
      if (!(key0 === "kind" || key0 === "account_id" || key0 === "name" || key0 === "permissions" || key0 === "suspended")) {
        const err3 = { instancePath, keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err4 = { instancePath: instancePath + "/kind", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err5 = { instancePath: instancePath + "/account_id", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
      }
    }
    if (data.name !== void 0) {
      let data2 = data.name;
      if (typeof data2 == "string") {
        if (func2(data2) > 512) {
          const err6 = { instancePath: instancePath + "/name", keyword: "maxLength", params: { limit: 512 } };
          vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
        }
        if (func2(data2) < 1) {
          const err7 = { instancePath: instancePath + "/name", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
        }
      } else {
        const err8 = { instancePath: instancePath + "/name", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
      }
    }
    if (data.permissions !== void 0) {
      let data3 = data.permissions;
      if (Array.isArray(data3)) {
        const len0 = data3.length;
        for (let i0 = 0; i0 < len0; i0++) {
          let data4 = data3[i0];
          if (typeof data4 != "string") {
            const err9 = { instancePath: instancePath + "/permissions/" + i0, keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
          }
          if (!(data4 === "monit" || data4 === "feed")) {
            const err10 = { instancePath: instancePath + "/permissions/" + i0, keyword: "enum", params: { allowedValues: schema11.properties.permissions.items.enum } };
            vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
          }
        }
      } else {
        const err11 = { instancePath: instancePath + "/permissions", keyword: "type", params: { type: "array" } };
        vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
      }
    }
    if (data.suspended !== void 0 && typeof data.suspended != "boolean") {
      const err12 = { instancePath: instancePath + "/suspended", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
    }
  } else {
    const err13 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
  }
  return validate10.errors = vErrors, errors === 0;
}
const app_key = validate11, schema12 = { type: "object", required: ["account_id"], properties: { kind: { type: "string" }, account_id: { int64: { minimum: 1 } }, app_key: { type: "string", minLength: 32, maxLength: 256 }, app_key_hash: { type: "string", minLength: 64, maxLength: 64, pattern: "^[0-9a-f]{64}$" }, last_digits: { type: "string", maxLength: 4 }, created_at: { int64: { minimum: 0, maximum: 99999999999 } }, expires_at: { int64: { minimum: 0, maximum: 99999999999 } }, revoked: { type: "boolean" }, note: { type: "string", maxLength: 512 } }, additionalProperties: !1 }, func4 = Object.prototype.hasOwnProperty, pattern0 = new RegExp("^[0-9a-f]{64}$", "u");
function validate11(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    for (const key0 in data)
      if (!func4.call(schema12.properties, key0)) {
        const err1 = { instancePath, keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err2 = { instancePath: instancePath + "/kind", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err3 = { instancePath: instancePath + "/account_id", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
      }
    }
    if (data.app_key !== void 0) {
      let data2 = data.app_key;
      if (typeof data2 == "string") {
        if (func2(data2) > 256) {
          const err4 = { instancePath: instancePath + "/app_key", keyword: "maxLength", params: { limit: 256 } };
          vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
        }
        if (func2(data2) < 32) {
          const err5 = { instancePath: instancePath + "/app_key", keyword: "minLength", params: { limit: 32 } };
          vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
        }
      } else {
        const err6 = { instancePath: instancePath + "/app_key", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
      }
    }
    if (data.app_key_hash !== void 0) {
      let data3 = data.app_key_hash;
      if (typeof data3 == "string") {
        if (func2(data3) > 64) {
          const err7 = { instancePath: instancePath + "/app_key_hash", keyword: "maxLength", params: { limit: 64 } };
          vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
        }
        if (func2(data3) < 64) {
          const err8 = { instancePath: instancePath + "/app_key_hash", keyword: "minLength", params: { limit: 64 } };
          vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
        }
        if (!pattern0.test(data3)) {
          const err9 = { instancePath: instancePath + "/app_key_hash", keyword: "pattern", params: { pattern: "^[0-9a-f]{64}$" } };
          vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
        }
      } else {
        const err10 = { instancePath: instancePath + "/app_key_hash", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
      }
    }
    if (data.last_digits !== void 0) {
      let data4 = data.last_digits;
      if (typeof data4 == "string") {
        if (func2(data4) > 4) {
          const err11 = { instancePath: instancePath + "/last_digits", keyword: "maxLength", params: { limit: 4 } };
          vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
        }
      } else {
        const err12 = { instancePath: instancePath + "/last_digits", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
      }
    }
    if (data.created_at !== void 0) {
      let data5 = data.created_at;
      if (!((typeof data5 == "bigint" || Number.isSafeInteger(data5)) && data5 >= 0 && data5 <= 99999999999n)) {
        const err13 = { instancePath: instancePath + "/created_at", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
      }
    }
    if (data.expires_at !== void 0) {
      let data6 = data.expires_at;
      if (!((typeof data6 == "bigint" || Number.isSafeInteger(data6)) && data6 >= 0 && data6 <= 99999999999n)) {
        const err14 = { instancePath: instancePath + "/expires_at", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
      }
    }
    if (data.revoked !== void 0 && typeof data.revoked != "boolean") {
      const err15 = { instancePath: instancePath + "/revoked", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err15] : vErrors.push(err15), errors++;
    }
    if (data.note !== void 0) {
      let data8 = data.note;
      if (typeof data8 == "string") {
        if (func2(data8) > 512) {
          const err16 = { instancePath: instancePath + "/note", keyword: "maxLength", params: { limit: 512 } };
          vErrors === null ? vErrors = [err16] : vErrors.push(err16), errors++;
        }
      } else {
        const err17 = { instancePath: instancePath + "/note", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err17] : vErrors.push(err17), errors++;
      }
    }
  } else {
    const err18 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err18] : vErrors.push(err18), errors++;
  }
  return validate11.errors = vErrors, errors === 0;
}
const exported_incident = validate12;
const pattern1 = new RegExp("^[0-9a-fA-F]{24}$", "u");
function validate12(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.incident_id === void 0) {
      const err1 = { instancePath, keyword: "required", params: { missingProperty: "incident_id" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.title === void 0) {
      const err2 = { instancePath, keyword: "required", params: { missingProperty: "title" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    for (const key0 in data)
      if (!(key0 === "kind" || key0 === "account_id" || key0 === "at_ms" || key0 === "incident_id" || key0 === "title" || key0 === "owner_id" || key0 === "created_at_ms")) {
        const err3 = { instancePath, keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err4 = { instancePath: instancePath + "/kind", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err5 = { instancePath: instancePath + "/account_id", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
      }
    }
    if (data.at_ms !== void 0) {
      let data2 = data.at_ms;
      if (!((typeof data2 == "bigint" || Number.isSafeInteger(data2)) && data2 >= 1e12 && data2 <= 9999999999999n)) {
        const err6 = { instancePath: instancePath + "/at_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
      }
    }
    if (data.incident_id !== void 0) {
      let data3 = data.incident_id;
      if (typeof data3 == "string") {
        if (!pattern1.test(data3)) {
          const err7 = { instancePath: instancePath + "/incident_id", keyword: "pattern", params: { pattern: "^[0-9a-fA-F]{24}$" } };
          vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
        }
      } else {
        const err8 = { instancePath: instancePath + "/incident_id", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
      }
    }
    if (data.title !== void 0) {
      let data4 = data.title;
      if (typeof data4 == "string") {
        if (func2(data4) > 512) {
          const err9 = { instancePath: instancePath + "/title", keyword: "maxLength", params: { limit: 512 } };
          vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
        }
      } else {
        const err10 = { instancePath: instancePath + "/title", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
      }
    }
    if (data.owner_id !== void 0) {
      let data5 = data.owner_id;
      if (!((typeof data5 == "bigint" || Number.isSafeInteger(data5)) && data5 >= -9223372036854775808n && data5 <= 9223372036854775807n)) {
        const err11 = { instancePath: instancePath + "/owner_id", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
      }
    }
    if (data.created_at_ms !== void 0) {
      let data6 = data.created_at_ms;
      if (!((typeof data6 == "bigint" || Number.isSafeInteger(data6)) && data6 >= 1e12 && data6 <= 9999999999999n)) {
        const err12 = { instancePath: instancePath + "/created_at_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
      }
    }
  } else {
    const err13 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
  }
  return validate12.errors = vErrors, errors === 0;
}
const exported_alert = validate13, schema14 = { type: "object", required: ["account_id", "title", "alert_id", "alert_key", "alert_status", "started_at_ms"], properties: { kind: { type: "string" }, account_id: { int64: { minimum: 1 } }, at_ms: { int64: { minimum: 1e12, maximum: 9999999999999 } }, alert_id: { type: "string", pattern: "^[0-9a-fA-F]{24}$" }, alert_key: { type: "string", minLength: 1, maxLength: 255 }, title: { type: "string", minLength: 1, maxLength: 512 }, description: { type: "string", maxLength: 4096 }, labels: { type: "object", maxProperties: 64, propertyNames: { type: "string", minLength: 1, maxLength: 128 }, additionalProperties: { type: "string", maxLength: 1024 } }, annotations: { type: "object", maxProperties: 32, propertyNames: { type: "string", minLength: 1, maxLength: 128 }, additionalProperties: { type: "string", maxLength: 2048 } }, source_url: { type: "string", maxLength: 2048, pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^\\u0000-\\u0020\\u007f\\ud800-\\udfff]+$" }, alert_status: { type: "string", enum: ["Critical", "Warning", "Info", "Ok"] }, started_at_ms: { int64: { minimum: 1e12, maximum: 9999999999999 } }, ended_at_ms: { int64: { minimum: 1e12, maximum: 9999999999999 } }, silent_after_s: { type: "integer", minimum: 60, maximum: 2592e3 }, incident_id: { type: "string", pattern: "^[0-9a-fA-F]{24}$" }, incident_at_ms: { int64: { minimum: 1e12, maximum: 9999999999999 } }, start_given: { type: "boolean" }, previous_alert_id: { type: "string", pattern: "^[0-9a-fA-F]{24}$" }, alert_severity: { type: "string", enum: ["Critical", "Warning", "Info"] } }, additionalProperties: !1 }, pattern3 = new RegExp("^[Hh][Tt][Tt][Pp][Ss]?://[^\\u0000-\\u0020\\u007f\\ud800-\\udfff]+$", "u");
function validate13(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.title === void 0) {
      const err1 = { instancePath, keyword: "required", params: { missingProperty: "title" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.alert_id === void 0) {
      const err2 = { instancePath, keyword: "required", params: { missingProperty: "alert_id" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    if (data.alert_key === void 0) {
      const err3 = { instancePath, keyword: "required", params: { missingProperty: "alert_key" } };
      vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
    }
    if (data.alert_status === void 0) {
      const err4 = { instancePath, keyword: "required", params: { missingProperty: "alert_status" } };
      vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
    }
    if (data.started_at_ms === void 0) {
      const err5 = { instancePath, keyword: "required", params: { missingProperty: "started_at_ms" } };
      vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
    }
    for (const key0 in data)
      if (!func4.call(schema14.properties, key0)) {
        const err6 = { instancePath, keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err7 = { instancePath: instancePath + "/kind", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err8 = { instancePath: instancePath + "/account_id", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
      }
    }
    if (data.at_ms !== void 0) {
      let data2 = data.at_ms;
      if (!((typeof data2 == "bigint" || Number.isSafeInteger(data2)) && data2 >= 1e12 && data2 <= 9999999999999n)) {
        const err9 = { instancePath: instancePath + "/at_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
      }
    }
    if (data.alert_id !== void 0) {
      let data3 = data.alert_id;
      if (typeof data3 == "string") {
        if (!pattern1.test(data3)) {
          const err10 = { instancePath: instancePath + "/alert_id", keyword: "pattern", params: { pattern: "^[0-9a-fA-F]{24}$" } };
          vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
        }
      } else {
        const err11 = { instancePath: instancePath + "/alert_id", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
      }
    }
    if (data.alert_key !== void 0) {
      let data4 = data.alert_key;
      if (typeof data4 == "string") {
        if (func2(data4) > 255) {
          const err12 = { instancePath: instancePath + "/alert_key", keyword: "maxLength", params: { limit: 255 } };
          vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
        }
        if (func2(data4) < 1) {
          const err13 = { instancePath: instancePath + "/alert_key", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
        }
      } else {
        const err14 = { instancePath: instancePath + "/alert_key", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
      }
    }
    if (data.title !== void 0) {
      let data5 = data.title;
      if (typeof data5 == "string") {
        if (func2(data5) > 512) {
          const err15 = { instancePath: instancePath + "/title", keyword: "maxLength", params: { limit: 512 } };
          vErrors === null ? vErrors = [err15] : vErrors.push(err15), errors++;
        }
        if (func2(data5) < 1) {
          const err16 = { instancePath: instancePath + "/title", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err16] : vErrors.push(err16), errors++;
        }
      } else {
        const err17 = { instancePath: instancePath + "/title", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err17] : vErrors.push(err17), errors++;
      }
    }
    if (data.description !== void 0) {
      let data6 = data.description;
      if (typeof data6 == "string") {
        if (func2(data6) > 4096) {
          const err18 = { instancePath: instancePath + "/description", keyword: "maxLength", params: { limit: 4096 } };
          vErrors === null ? vErrors = [err18] : vErrors.push(err18), errors++;
        }
      } else {
        const err19 = { instancePath: instancePath + "/description", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err19] : vErrors.push(err19), errors++;
      }
    }
    if (data.labels !== void 0) {
      let data7 = data.labels;
      if (data7 && typeof data7 == "object" && !Array.isArray(data7)) {
        if (Object.keys(data7).length > 64) {
          const err20 = { instancePath: instancePath + "/labels", keyword: "maxProperties", params: { limit: 64 } };
          vErrors === null ? vErrors = [err20] : vErrors.push(err20), errors++;
        }
        for (const key1 in data7) {
          const _errs16 = errors;
          if (typeof key1 == "string") {
            if (func2(key1) > 128) {
              const err21 = { instancePath: instancePath + "/labels", keyword: "maxLength", params: { limit: 128 }, propertyName: key1 };
              vErrors === null ? vErrors = [err21] : vErrors.push(err21), errors++;
            }
            if (func2(key1) < 1) {
              const err22 = { instancePath: instancePath + "/labels", keyword: "minLength", params: { limit: 1 }, propertyName: key1 };
              vErrors === null ? vErrors = [err22] : vErrors.push(err22), errors++;
            }
          } else {
            const err23 = { instancePath: instancePath + "/labels", keyword: "type", params: { type: "string" }, propertyName: key1 };
            vErrors === null ? vErrors = [err23] : vErrors.push(err23), errors++;
          }
          var valid1 = _errs16 === errors;
          if (!valid1) {
            const err24 = { instancePath: instancePath + "/labels", keyword: "propertyNames", params: { propertyName: key1 } };
            vErrors === null ? vErrors = [err24] : vErrors.push(err24), errors++;
          }
        }
        for (const key2 in data7) {
          let data8 = data7[key2];
          if (typeof data8 == "string") {
            if (func2(data8) > 1024) {
              const err25 = { instancePath: instancePath + "/labels/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"), keyword: "maxLength", params: { limit: 1024 } };
              vErrors === null ? vErrors = [err25] : vErrors.push(err25), errors++;
            }
          } else {
            const err26 = { instancePath: instancePath + "/labels/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"), keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err26] : vErrors.push(err26), errors++;
          }
        }
      } else {
        const err27 = { instancePath: instancePath + "/labels", keyword: "type", params: { type: "object" } };
        vErrors === null ? vErrors = [err27] : vErrors.push(err27), errors++;
      }
    }
    if (data.annotations !== void 0) {
      let data9 = data.annotations;
      if (data9 && typeof data9 == "object" && !Array.isArray(data9)) {
        if (Object.keys(data9).length > 32) {
          const err28 = { instancePath: instancePath + "/annotations", keyword: "maxProperties", params: { limit: 32 } };
          vErrors === null ? vErrors = [err28] : vErrors.push(err28), errors++;
        }
        for (const key3 in data9) {
          const _errs23 = errors;
          if (typeof key3 == "string") {
            if (func2(key3) > 128) {
              const err29 = { instancePath: instancePath + "/annotations", keyword: "maxLength", params: { limit: 128 }, propertyName: key3 };
              vErrors === null ? vErrors = [err29] : vErrors.push(err29), errors++;
            }
            if (func2(key3) < 1) {
              const err30 = { instancePath: instancePath + "/annotations", keyword: "minLength", params: { limit: 1 }, propertyName: key3 };
              vErrors === null ? vErrors = [err30] : vErrors.push(err30), errors++;
            }
          } else {
            const err31 = { instancePath: instancePath + "/annotations", keyword: "type", params: { type: "string" }, propertyName: key3 };
            vErrors === null ? vErrors = [err31] : vErrors.push(err31), errors++;
          }
          var valid3 = _errs23 === errors;
          if (!valid3) {
            const err32 = { instancePath: instancePath + "/annotations", keyword: "propertyNames", params: { propertyName: key3 } };
            vErrors === null ? vErrors = [err32] : vErrors.push(err32), errors++;
          }
        }
        for (const key4 in data9) {
          let data10 = data9[key4];
          if (typeof data10 == "string") {
            if (func2(data10) > 2048) {
              const err33 = { instancePath: instancePath + "/annotations/" + key4.replace(/~/g, "~0").replace(/\//g, "~1"), keyword: "maxLength", params: { limit: 2048 } };
              vErrors === null ? vErrors = [err33] : vErrors.push(err33), errors++;
            }
          } else {
            const err34 = { instancePath: instancePath + "/annotations/" + key4.replace(/~/g, "~0").replace(/\//g, "~1"), keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err34] : vErrors.push(err34), errors++;
          }
        }
      } else {
        const err35 = { instancePath: instancePath + "/annotations", keyword: "type", params: { type: "object" } };
        vErrors === null ? vErrors = [err35] : vErrors.push(err35), errors++;
      }
    }
    if (data.source_url !== void 0) {
      let data11 = data.source_url;
      if (typeof data11 == "string") {
        if (func2(data11) > 2048) {
          const err36 = { instancePath: instancePath + "/source_url", keyword: "maxLength", params: { limit: 2048 } };
          vErrors === null ? vErrors = [err36] : vErrors.push(err36), errors++;
        }
        if (!pattern3.test(data11)) {
          const err37 = { instancePath: instancePath + "/source_url", keyword: "pattern", params: { pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^\\u0000-\\u0020\\u007f\\ud800-\\udfff]+$" } };
          vErrors === null ? vErrors = [err37] : vErrors.push(err37), errors++;
        }
      } else {
        const err38 = { instancePath: instancePath + "/source_url", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err38] : vErrors.push(err38), errors++;
      }
    }
    if (data.alert_status !== void 0) {
      let data12 = data.alert_status;
      if (typeof data12 != "string") {
        const err39 = { instancePath: instancePath + "/alert_status", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err39] : vErrors.push(err39), errors++;
      }
      if (!(data12 === "Critical" || data12 === "Warning" || data12 === "Info" || data12 === "Ok")) {
        const err40 = { instancePath: instancePath + "/alert_status", keyword: "enum", params: { allowedValues: schema14.properties.alert_status.enum } };
        vErrors === null ? vErrors = [err40] : vErrors.push(err40), errors++;
      }
    }
    if (data.started_at_ms !== void 0) {
      let data13 = data.started_at_ms;
      if (!((typeof data13 == "bigint" || Number.isSafeInteger(data13)) && data13 >= 1e12 && data13 <= 9999999999999n)) {
        const err41 = { instancePath: instancePath + "/started_at_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err41] : vErrors.push(err41), errors++;
      }
    }
    if (data.ended_at_ms !== void 0) {
      let data14 = data.ended_at_ms;
      if (!((typeof data14 == "bigint" || Number.isSafeInteger(data14)) && data14 >= 1e12 && data14 <= 9999999999999n)) {
        const err42 = { instancePath: instancePath + "/ended_at_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err42] : vErrors.push(err42), errors++;
      }
    }
    if (data.silent_after_s !== void 0) {
      let data15 = data.silent_after_s;
      if (!(typeof data15 == "number" && !(data15 % 1) && !isNaN(data15) && isFinite(data15))) {
        const err43 = { instancePath: instancePath + "/silent_after_s", keyword: "type", params: { type: "integer" } };
        vErrors === null ? vErrors = [err43] : vErrors.push(err43), errors++;
      }
      if (typeof data15 == "number" && isFinite(data15)) {
        if (data15 > 2592e3 || isNaN(data15)) {
          const err44 = { instancePath: instancePath + "/silent_after_s", keyword: "maximum", params: { comparison: "<=", limit: 2592e3 } };
          vErrors === null ? vErrors = [err44] : vErrors.push(err44), errors++;
        }
        if (data15 < 60 || isNaN(data15)) {
          const err45 = { instancePath: instancePath + "/silent_after_s", keyword: "minimum", params: { comparison: ">=", limit: 60 } };
          vErrors === null ? vErrors = [err45] : vErrors.push(err45), errors++;
        }
      }
    }
    if (data.incident_id !== void 0) {
      let data16 = data.incident_id;
      if (typeof data16 == "string") {
        if (!pattern1.test(data16)) {
          const err46 = { instancePath: instancePath + "/incident_id", keyword: "pattern", params: { pattern: "^[0-9a-fA-F]{24}$" } };
          vErrors === null ? vErrors = [err46] : vErrors.push(err46), errors++;
        }
      } else {
        const err47 = { instancePath: instancePath + "/incident_id", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err47] : vErrors.push(err47), errors++;
      }
    }
    if (data.incident_at_ms !== void 0) {
      let data17 = data.incident_at_ms;
      if (!((typeof data17 == "bigint" || Number.isSafeInteger(data17)) && data17 >= 1e12 && data17 <= 9999999999999n)) {
        const err48 = { instancePath: instancePath + "/incident_at_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err48] : vErrors.push(err48), errors++;
      }
    }
    if (data.start_given !== void 0 && typeof data.start_given != "boolean") {
      const err49 = { instancePath: instancePath + "/start_given", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err49] : vErrors.push(err49), errors++;
    }
    if (data.previous_alert_id !== void 0) {
      let data19 = data.previous_alert_id;
      if (typeof data19 == "string") {
        if (!pattern1.test(data19)) {
          const err50 = { instancePath: instancePath + "/previous_alert_id", keyword: "pattern", params: { pattern: "^[0-9a-fA-F]{24}$" } };
          vErrors === null ? vErrors = [err50] : vErrors.push(err50), errors++;
        }
      } else {
        const err51 = { instancePath: instancePath + "/previous_alert_id", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err51] : vErrors.push(err51), errors++;
      }
    }
    if (data.alert_severity !== void 0) {
      let data20 = data.alert_severity;
      if (typeof data20 != "string") {
        const err52 = { instancePath: instancePath + "/alert_severity", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err52] : vErrors.push(err52), errors++;
      }
      if (!(data20 === "Critical" || data20 === "Warning" || data20 === "Info")) {
        const err53 = { instancePath: instancePath + "/alert_severity", keyword: "enum", params: { allowedValues: schema14.properties.alert_severity.enum } };
        vErrors === null ? vErrors = [err53] : vErrors.push(err53), errors++;
      }
    }
  } else {
    const err54 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err54] : vErrors.push(err54), errors++;
  }
  return validate13.errors = vErrors, errors === 0;
}
export {
  account,
  app_key,
  exported_alert,
  exported_incident
};
