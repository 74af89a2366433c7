// Generated from lib/ingest/kinds.ts by `npm run generate`: do not edit.
// @ts-nocheck
import { codePoints } from '../shared/code-points.ts';
const data_account = validate10, schema11 = { type: "object", required: ["account_id", "name", "permissions"], properties: { kind: { type: "string" }, account_id: { int64: { minimum: 1 } }, name: { type: "string", minLength: 1, maxLength: 512 }, permissions: { type: "array", items: { type: "string", enum: ["monit"] } }, suspended: { type: "boolean" } }, additionalProperties: !1 }, func2 = codePoints;
function validate10(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.name === void 0) {
      const err1 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "name" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.permissions === void 0) {
      const err2 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "permissions" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    for (const key0 in data)
      if (!(key0 === "kind" || key0 === "account_id" || key0 === "name" || key0 === "permissions" || key0 === "suspended")) {
        const err3 = { instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err4 = { instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err5 = { instancePath: instancePath + "/account_id", schemaPath: "#/properties/account_id/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
      }
    }
    if (data.name !== void 0) {
      let data2 = data.name;
      if (typeof data2 == "string") {
        if (func2(data2) > 512) {
          const err6 = { instancePath: instancePath + "/name", schemaPath: "#/properties/name/maxLength", keyword: "maxLength", params: { limit: 512 } };
          vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
        }
        if (func2(data2) < 1) {
          const err7 = { instancePath: instancePath + "/name", schemaPath: "#/properties/name/minLength", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
        }
      } else {
        const err8 = { instancePath: instancePath + "/name", schemaPath: "#/properties/name/type", keyword: "type", params: { type: "string" } };
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
            const err9 = { instancePath: instancePath + "/permissions/" + i0, schemaPath: "#/properties/permissions/items/type", keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
          }
          if (data4 !== "monit") {
            const err10 = { instancePath: instancePath + "/permissions/" + i0, schemaPath: "#/properties/permissions/items/enum", keyword: "enum", params: { allowedValues: schema11.properties.permissions.items.enum } };
            vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
          }
        }
      } else {
        const err11 = { instancePath: instancePath + "/permissions", schemaPath: "#/properties/permissions/type", keyword: "type", params: { type: "array" } };
        vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
      }
    }
    if (data.suspended !== void 0 && typeof data.suspended != "boolean") {
      const err12 = { instancePath: instancePath + "/suspended", schemaPath: "#/properties/suspended/type", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
    }
  } else {
    const err13 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
  }
  return validate10.errors = vErrors, errors === 0;
}
const data_app_key = validate11, schema12 = { type: "object", required: ["account_id"], properties: { kind: { type: "string" }, account_id: { int64: { minimum: 1 } }, app_key: { type: "string", minLength: 32, maxLength: 256 }, app_key_hash: { type: "string", minLength: 64, maxLength: 64, pattern: "^[0-9a-f]{64}$" }, last_digits: { type: "string", maxLength: 4 }, created_at: { int64: { minimum: 0, maximum: 99999999999 } }, expires_at: { int64: { minimum: 0, maximum: 99999999999 } }, revoked: { type: "boolean" }, note: { type: "string", maxLength: 512 } }, additionalProperties: !1 }, func4 = Object.prototype.hasOwnProperty, pattern0 = new RegExp("^[0-9a-f]{64}$", "u");
function validate11(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    for (const key0 in data)
      if (!func4.call(schema12.properties, key0)) {
        const err1 = { instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err2 = { instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err3 = { instancePath: instancePath + "/account_id", schemaPath: "#/properties/account_id/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
      }
    }
    if (data.app_key !== void 0) {
      let data2 = data.app_key;
      if (typeof data2 == "string") {
        if (func2(data2) > 256) {
          const err4 = { instancePath: instancePath + "/app_key", schemaPath: "#/properties/app_key/maxLength", keyword: "maxLength", params: { limit: 256 } };
          vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
        }
        if (func2(data2) < 32) {
          const err5 = { instancePath: instancePath + "/app_key", schemaPath: "#/properties/app_key/minLength", keyword: "minLength", params: { limit: 32 } };
          vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
        }
      } else {
        const err6 = { instancePath: instancePath + "/app_key", schemaPath: "#/properties/app_key/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
      }
    }
    if (data.app_key_hash !== void 0) {
      let data3 = data.app_key_hash;
      if (typeof data3 == "string") {
        if (func2(data3) > 64) {
          const err7 = { instancePath: instancePath + "/app_key_hash", schemaPath: "#/properties/app_key_hash/maxLength", keyword: "maxLength", params: { limit: 64 } };
          vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
        }
        if (func2(data3) < 64) {
          const err8 = { instancePath: instancePath + "/app_key_hash", schemaPath: "#/properties/app_key_hash/minLength", keyword: "minLength", params: { limit: 64 } };
          vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
        }
        if (!pattern0.test(data3)) {
          const err9 = { instancePath: instancePath + "/app_key_hash", schemaPath: "#/properties/app_key_hash/pattern", keyword: "pattern", params: { pattern: "^[0-9a-f]{64}$" } };
          vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
        }
      } else {
        const err10 = { instancePath: instancePath + "/app_key_hash", schemaPath: "#/properties/app_key_hash/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
      }
    }
    if (data.last_digits !== void 0) {
      let data4 = data.last_digits;
      if (typeof data4 == "string") {
        if (func2(data4) > 4) {
          const err11 = { instancePath: instancePath + "/last_digits", schemaPath: "#/properties/last_digits/maxLength", keyword: "maxLength", params: { limit: 4 } };
          vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
        }
      } else {
        const err12 = { instancePath: instancePath + "/last_digits", schemaPath: "#/properties/last_digits/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
      }
    }
    if (data.created_at !== void 0) {
      let data5 = data.created_at;
      if (!((typeof data5 == "bigint" || Number.isSafeInteger(data5)) && data5 >= 0 && data5 <= 99999999999n)) {
        const err13 = { instancePath: instancePath + "/created_at", schemaPath: "#/properties/created_at/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
      }
    }
    if (data.expires_at !== void 0) {
      let data6 = data.expires_at;
      if (!((typeof data6 == "bigint" || Number.isSafeInteger(data6)) && data6 >= 0 && data6 <= 99999999999n)) {
        const err14 = { instancePath: instancePath + "/expires_at", schemaPath: "#/properties/expires_at/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
      }
    }
    if (data.revoked !== void 0 && typeof data.revoked != "boolean") {
      const err15 = { instancePath: instancePath + "/revoked", schemaPath: "#/properties/revoked/type", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err15] : vErrors.push(err15), errors++;
    }
    if (data.note !== void 0) {
      let data8 = data.note;
      if (typeof data8 == "string") {
        if (func2(data8) > 512) {
          const err16 = { instancePath: instancePath + "/note", schemaPath: "#/properties/note/maxLength", keyword: "maxLength", params: { limit: 512 } };
          vErrors === null ? vErrors = [err16] : vErrors.push(err16), errors++;
        }
      } else {
        const err17 = { instancePath: instancePath + "/note", schemaPath: "#/properties/note/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err17] : vErrors.push(err17), errors++;
      }
    }
  } else {
    const err18 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err18] : vErrors.push(err18), errors++;
  }
  return validate11.errors = vErrors, errors === 0;
}
const data_member = validate12;
function validate12(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.member_id === void 0) {
      const err1 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "member_id" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.name === void 0) {
      const err2 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "name" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    for (const key0 in data)
      if (!(key0 === "kind" || key0 === "account_id" || key0 === "at_ms" || key0 === "member_id" || key0 === "name")) {
        const err3 = { instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err4 = { instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err5 = { instancePath: instancePath + "/account_id", schemaPath: "#/properties/account_id/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
      }
    }
    if (data.at_ms !== void 0) {
      let data2 = data.at_ms;
      if (!((typeof data2 == "bigint" || Number.isSafeInteger(data2)) && data2 >= 0 && data2 <= 9999999999999n)) {
        const err6 = { instancePath: instancePath + "/at_ms", schemaPath: "#/properties/at_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
      }
    }
    if (data.member_id !== void 0) {
      let data3 = data.member_id;
      if (!((typeof data3 == "bigint" || Number.isSafeInteger(data3)) && data3 >= -9223372036854775808n && data3 <= 9223372036854775807n)) {
        const err7 = { instancePath: instancePath + "/member_id", schemaPath: "#/properties/member_id/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
      }
    }
    if (data.name !== void 0) {
      let data4 = data.name;
      if (typeof data4 == "string") {
        if (func2(data4) > 512) {
          const err8 = { instancePath: instancePath + "/name", schemaPath: "#/properties/name/maxLength", keyword: "maxLength", params: { limit: 512 } };
          vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
        }
        if (func2(data4) < 1) {
          const err9 = { instancePath: instancePath + "/name", schemaPath: "#/properties/name/minLength", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
        }
      } else {
        const err10 = { instancePath: instancePath + "/name", schemaPath: "#/properties/name/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
      }
    }
  } else {
    const err11 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
  }
  return validate12.errors = vErrors, errors === 0;
}
const data_host = validate13, schema14 = { type: "object", required: ["account_id", "host_id", "agent_version", "edge_cluster", "enabled", "snapshot_ready"], properties: { kind: { type: "string" }, account_id: { int64: { minimum: 1 } }, at_ms: { int64: { minimum: 0, maximum: 9999999999999 } }, host_id: { type: "string", minLength: 1, maxLength: 256 }, agent_version: { type: "string" }, edge_cluster: { type: "string" }, enabled: { type: "boolean" }, capability_status: { type: "string" }, capture_mode: { type: "string", enum: ["ebpf", "polling"] }, report_interval_ms: { int64: { minimum: 1 } }, snapshot_ready: { type: "boolean" }, reason_codes: { type: "array", items: { type: "string" } } }, additionalProperties: !1 };
function validate13(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.host_id === void 0) {
      const err1 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "host_id" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.agent_version === void 0) {
      const err2 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "agent_version" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    if (data.edge_cluster === void 0) {
      const err3 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "edge_cluster" } };
      vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
    }
    if (data.enabled === void 0) {
      const err4 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "enabled" } };
      vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
    }
    if (data.snapshot_ready === void 0) {
      const err5 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "snapshot_ready" } };
      vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
    }
    for (const key0 in data)
      if (!func4.call(schema14.properties, key0)) {
        const err6 = { instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err7 = { instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err8 = { instancePath: instancePath + "/account_id", schemaPath: "#/properties/account_id/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
      }
    }
    if (data.at_ms !== void 0) {
      let data2 = data.at_ms;
      if (!((typeof data2 == "bigint" || Number.isSafeInteger(data2)) && data2 >= 0 && data2 <= 9999999999999n)) {
        const err9 = { instancePath: instancePath + "/at_ms", schemaPath: "#/properties/at_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
      }
    }
    if (data.host_id !== void 0) {
      let data3 = data.host_id;
      if (typeof data3 == "string") {
        if (func2(data3) > 256) {
          const err10 = { instancePath: instancePath + "/host_id", schemaPath: "#/properties/host_id/maxLength", keyword: "maxLength", params: { limit: 256 } };
          vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
        }
        if (func2(data3) < 1) {
          const err11 = { instancePath: instancePath + "/host_id", schemaPath: "#/properties/host_id/minLength", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
        }
      } else {
        const err12 = { instancePath: instancePath + "/host_id", schemaPath: "#/properties/host_id/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
      }
    }
    if (data.agent_version !== void 0 && typeof data.agent_version != "string") {
      const err13 = { instancePath: instancePath + "/agent_version", schemaPath: "#/properties/agent_version/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
    }
    if (data.edge_cluster !== void 0 && typeof data.edge_cluster != "string") {
      const err14 = { instancePath: instancePath + "/edge_cluster", schemaPath: "#/properties/edge_cluster/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
    }
    if (data.enabled !== void 0 && typeof data.enabled != "boolean") {
      const err15 = { instancePath: instancePath + "/enabled", schemaPath: "#/properties/enabled/type", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err15] : vErrors.push(err15), errors++;
    }
    if (data.capability_status !== void 0 && typeof data.capability_status != "string") {
      const err16 = { instancePath: instancePath + "/capability_status", schemaPath: "#/properties/capability_status/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err16] : vErrors.push(err16), errors++;
    }
    if (data.capture_mode !== void 0) {
      let data8 = data.capture_mode;
      if (typeof data8 != "string") {
        const err17 = { instancePath: instancePath + "/capture_mode", schemaPath: "#/properties/capture_mode/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err17] : vErrors.push(err17), errors++;
      }
      if (!(data8 === "ebpf" || data8 === "polling")) {
        const err18 = { instancePath: instancePath + "/capture_mode", schemaPath: "#/properties/capture_mode/enum", keyword: "enum", params: { allowedValues: schema14.properties.capture_mode.enum } };
        vErrors === null ? vErrors = [err18] : vErrors.push(err18), errors++;
      }
    }
    if (data.report_interval_ms !== void 0) {
      let data9 = data.report_interval_ms;
      if (!((typeof data9 == "bigint" || Number.isSafeInteger(data9)) && data9 >= 1 && data9 <= 9223372036854775807n)) {
        const err19 = { instancePath: instancePath + "/report_interval_ms", schemaPath: "#/properties/report_interval_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err19] : vErrors.push(err19), errors++;
      }
    }
    if (data.snapshot_ready !== void 0 && typeof data.snapshot_ready != "boolean") {
      const err20 = { instancePath: instancePath + "/snapshot_ready", schemaPath: "#/properties/snapshot_ready/type", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err20] : vErrors.push(err20), errors++;
    }
    if (data.reason_codes !== void 0) {
      let data11 = data.reason_codes;
      if (Array.isArray(data11)) {
        const len0 = data11.length;
        for (let i0 = 0; i0 < len0; i0++)
          if (typeof data11[i0] != "string") {
            const err21 = { instancePath: instancePath + "/reason_codes/" + i0, schemaPath: "#/properties/reason_codes/items/type", keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err21] : vErrors.push(err21), errors++;
          }
      } else {
        const err22 = { instancePath: instancePath + "/reason_codes", schemaPath: "#/properties/reason_codes/type", keyword: "type", params: { type: "array" } };
        vErrors === null ? vErrors = [err22] : vErrors.push(err22), errors++;
      }
    }
  } else {
    const err23 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err23] : vErrors.push(err23), errors++;
  }
  return validate13.errors = vErrors, errors === 0;
}
const data_host_status = validate14, schema15 = { type: "object", required: ["account_id", "host_id", "node_count", "edge_count", "authoritative", "graph_available", "snapshot_truncated", "snapshot_degraded"], properties: { kind: { type: "string" }, account_id: { int64: { minimum: 1 } }, at_ms: { int64: { minimum: 0, maximum: 9999999999999 } }, host_id: { type: "string", minLength: 1, maxLength: 256 }, received_at_ms: { int64: { minimum: 0 } }, observed_at_ms: { int64: { minimum: 0 } }, node_count: { int64: { minimum: 0 } }, edge_count: { int64: { minimum: 0 } }, authoritative: { type: "boolean" }, graph_available: { type: "boolean" }, snapshot_truncated: { type: "boolean" }, snapshot_degraded: { type: "boolean" }, health_at_ms: { int64: { minimum: 0 } }, reason_codes: { type: "array", items: { type: "string" } } }, additionalProperties: !1 };
function validate14(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.host_id === void 0) {
      const err1 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "host_id" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.node_count === void 0) {
      const err2 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "node_count" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    if (data.edge_count === void 0) {
      const err3 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "edge_count" } };
      vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
    }
    if (data.authoritative === void 0) {
      const err4 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "authoritative" } };
      vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
    }
    if (data.graph_available === void 0) {
      const err5 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "graph_available" } };
      vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
    }
    if (data.snapshot_truncated === void 0) {
      const err6 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "snapshot_truncated" } };
      vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
    }
    if (data.snapshot_degraded === void 0) {
      const err7 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "snapshot_degraded" } };
      vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
    }
    for (const key0 in data)
      if (!func4.call(schema15.properties, key0)) {
        const err8 = { instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err9 = { instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err10 = { instancePath: instancePath + "/account_id", schemaPath: "#/properties/account_id/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
      }
    }
    if (data.at_ms !== void 0) {
      let data2 = data.at_ms;
      if (!((typeof data2 == "bigint" || Number.isSafeInteger(data2)) && data2 >= 0 && data2 <= 9999999999999n)) {
        const err11 = { instancePath: instancePath + "/at_ms", schemaPath: "#/properties/at_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
      }
    }
    if (data.host_id !== void 0) {
      let data3 = data.host_id;
      if (typeof data3 == "string") {
        if (func2(data3) > 256) {
          const err12 = { instancePath: instancePath + "/host_id", schemaPath: "#/properties/host_id/maxLength", keyword: "maxLength", params: { limit: 256 } };
          vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
        }
        if (func2(data3) < 1) {
          const err13 = { instancePath: instancePath + "/host_id", schemaPath: "#/properties/host_id/minLength", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
        }
      } else {
        const err14 = { instancePath: instancePath + "/host_id", schemaPath: "#/properties/host_id/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
      }
    }
    if (data.received_at_ms !== void 0) {
      let data4 = data.received_at_ms;
      if (!((typeof data4 == "bigint" || Number.isSafeInteger(data4)) && data4 >= 0 && data4 <= 9223372036854775807n)) {
        const err15 = { instancePath: instancePath + "/received_at_ms", schemaPath: "#/properties/received_at_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err15] : vErrors.push(err15), errors++;
      }
    }
    if (data.observed_at_ms !== void 0) {
      let data5 = data.observed_at_ms;
      if (!((typeof data5 == "bigint" || Number.isSafeInteger(data5)) && data5 >= 0 && data5 <= 9223372036854775807n)) {
        const err16 = { instancePath: instancePath + "/observed_at_ms", schemaPath: "#/properties/observed_at_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err16] : vErrors.push(err16), errors++;
      }
    }
    if (data.node_count !== void 0) {
      let data6 = data.node_count;
      if (!((typeof data6 == "bigint" || Number.isSafeInteger(data6)) && data6 >= 0 && data6 <= 9223372036854775807n)) {
        const err17 = { instancePath: instancePath + "/node_count", schemaPath: "#/properties/node_count/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err17] : vErrors.push(err17), errors++;
      }
    }
    if (data.edge_count !== void 0) {
      let data7 = data.edge_count;
      if (!((typeof data7 == "bigint" || Number.isSafeInteger(data7)) && data7 >= 0 && data7 <= 9223372036854775807n)) {
        const err18 = { instancePath: instancePath + "/edge_count", schemaPath: "#/properties/edge_count/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err18] : vErrors.push(err18), errors++;
      }
    }
    if (data.authoritative !== void 0 && typeof data.authoritative != "boolean") {
      const err19 = { instancePath: instancePath + "/authoritative", schemaPath: "#/properties/authoritative/type", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err19] : vErrors.push(err19), errors++;
    }
    if (data.graph_available !== void 0 && typeof data.graph_available != "boolean") {
      const err20 = { instancePath: instancePath + "/graph_available", schemaPath: "#/properties/graph_available/type", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err20] : vErrors.push(err20), errors++;
    }
    if (data.snapshot_truncated !== void 0 && typeof data.snapshot_truncated != "boolean") {
      const err21 = { instancePath: instancePath + "/snapshot_truncated", schemaPath: "#/properties/snapshot_truncated/type", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err21] : vErrors.push(err21), errors++;
    }
    if (data.snapshot_degraded !== void 0 && typeof data.snapshot_degraded != "boolean") {
      const err22 = { instancePath: instancePath + "/snapshot_degraded", schemaPath: "#/properties/snapshot_degraded/type", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err22] : vErrors.push(err22), errors++;
    }
    if (data.health_at_ms !== void 0) {
      let data12 = data.health_at_ms;
      if (!((typeof data12 == "bigint" || Number.isSafeInteger(data12)) && data12 >= 0 && data12 <= 9223372036854775807n)) {
        const err23 = { instancePath: instancePath + "/health_at_ms", schemaPath: "#/properties/health_at_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err23] : vErrors.push(err23), errors++;
      }
    }
    if (data.reason_codes !== void 0) {
      let data13 = data.reason_codes;
      if (Array.isArray(data13)) {
        const len0 = data13.length;
        for (let i0 = 0; i0 < len0; i0++)
          if (typeof data13[i0] != "string") {
            const err24 = { instancePath: instancePath + "/reason_codes/" + i0, schemaPath: "#/properties/reason_codes/items/type", keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err24] : vErrors.push(err24), errors++;
          }
      } else {
        const err25 = { instancePath: instancePath + "/reason_codes", schemaPath: "#/properties/reason_codes/type", keyword: "type", params: { type: "array" } };
        vErrors === null ? vErrors = [err25] : vErrors.push(err25), errors++;
      }
    }
  } else {
    const err26 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err26] : vErrors.push(err26), errors++;
  }
  return validate14.errors = vErrors, errors === 0;
}
const data_rum_resource = validate15, schema16 = { type: "object", required: ["account_id", "product", "version", "status", "offering_id", "order_id", "resource_id", "resource_name", "created_at", "updated_at", "window_start_time", "window_end_time", "action.days", "error.days", "long_task.days", "resource.days", "session.days", "view.days", "session_investigate.free_cnt", "session_measure.free_cnt", "session_replay.free_cnt"], properties: { kind: { type: "string" }, account_id: { int64: { minimum: 1 } }, at_ms: { int64: { minimum: 0, maximum: 9999999999999 } }, product: { type: "string" }, version: { type: "string" }, status: { type: "string" }, offering_id: { int64: {} }, order_id: { type: "string" }, resource_id: { type: "string" }, resource_name: { type: "string" }, created_at: { int64: { minimum: 0, maximum: 99999999999 } }, updated_at: { int64: { minimum: 0, maximum: 99999999999 } }, window_start_time: { int64: { minimum: 0, maximum: 99999999999 } }, window_end_time: { int64: { minimum: 0, maximum: 99999999999 } }, "action.days": { int64: {} }, "error.days": { int64: {} }, "long_task.days": { int64: {} }, "resource.days": { int64: {} }, "session.days": { int64: {} }, "view.days": { int64: {} }, "session_investigate.free_cnt": { int64: {} }, "session_measure.free_cnt": { int64: {} }, "session_replay.free_cnt": { int64: {} }, deleted: { type: "boolean" } }, additionalProperties: !1 };
function validate15(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.product === void 0) {
      const err1 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "product" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.version === void 0) {
      const err2 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "version" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    if (data.status === void 0) {
      const err3 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "status" } };
      vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
    }
    if (data.offering_id === void 0) {
      const err4 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "offering_id" } };
      vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
    }
    if (data.order_id === void 0) {
      const err5 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "order_id" } };
      vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
    }
    if (data.resource_id === void 0) {
      const err6 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "resource_id" } };
      vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
    }
    if (data.resource_name === void 0) {
      const err7 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "resource_name" } };
      vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
    }
    if (data.created_at === void 0) {
      const err8 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "created_at" } };
      vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
    }
    if (data.updated_at === void 0) {
      const err9 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "updated_at" } };
      vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
    }
    if (data.window_start_time === void 0) {
      const err10 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "window_start_time" } };
      vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
    }
    if (data.window_end_time === void 0) {
      const err11 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "window_end_time" } };
      vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
    }
    if (data["action.days"] === void 0) {
      const err12 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "action.days" } };
      vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
    }
    if (data["error.days"] === void 0) {
      const err13 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "error.days" } };
      vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
    }
    if (data["long_task.days"] === void 0) {
      const err14 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "long_task.days" } };
      vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
    }
    if (data["resource.days"] === void 0) {
      const err15 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "resource.days" } };
      vErrors === null ? vErrors = [err15] : vErrors.push(err15), errors++;
    }
    if (data["session.days"] === void 0) {
      const err16 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "session.days" } };
      vErrors === null ? vErrors = [err16] : vErrors.push(err16), errors++;
    }
    if (data["view.days"] === void 0) {
      const err17 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "view.days" } };
      vErrors === null ? vErrors = [err17] : vErrors.push(err17), errors++;
    }
    if (data["session_investigate.free_cnt"] === void 0) {
      const err18 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "session_investigate.free_cnt" } };
      vErrors === null ? vErrors = [err18] : vErrors.push(err18), errors++;
    }
    if (data["session_measure.free_cnt"] === void 0) {
      const err19 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "session_measure.free_cnt" } };
      vErrors === null ? vErrors = [err19] : vErrors.push(err19), errors++;
    }
    if (data["session_replay.free_cnt"] === void 0) {
      const err20 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "session_replay.free_cnt" } };
      vErrors === null ? vErrors = [err20] : vErrors.push(err20), errors++;
    }
    for (const key0 in data)
      if (!func4.call(schema16.properties, key0)) {
        const err21 = { instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err21] : vErrors.push(err21), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err22 = { instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err22] : vErrors.push(err22), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err23 = { instancePath: instancePath + "/account_id", schemaPath: "#/properties/account_id/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err23] : vErrors.push(err23), errors++;
      }
    }
    if (data.at_ms !== void 0) {
      let data2 = data.at_ms;
      if (!((typeof data2 == "bigint" || Number.isSafeInteger(data2)) && data2 >= 0 && data2 <= 9999999999999n)) {
        const err24 = { instancePath: instancePath + "/at_ms", schemaPath: "#/properties/at_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err24] : vErrors.push(err24), errors++;
      }
    }
    if (data.product !== void 0 && typeof data.product != "string") {
      const err25 = { instancePath: instancePath + "/product", schemaPath: "#/properties/product/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err25] : vErrors.push(err25), errors++;
    }
    if (data.version !== void 0 && typeof data.version != "string") {
      const err26 = { instancePath: instancePath + "/version", schemaPath: "#/properties/version/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err26] : vErrors.push(err26), errors++;
    }
    if (data.status !== void 0 && typeof data.status != "string") {
      const err27 = { instancePath: instancePath + "/status", schemaPath: "#/properties/status/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err27] : vErrors.push(err27), errors++;
    }
    if (data.offering_id !== void 0) {
      let data6 = data.offering_id;
      if (!((typeof data6 == "bigint" || Number.isSafeInteger(data6)) && data6 >= -9223372036854775808n && data6 <= 9223372036854775807n)) {
        const err28 = { instancePath: instancePath + "/offering_id", schemaPath: "#/properties/offering_id/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err28] : vErrors.push(err28), errors++;
      }
    }
    if (data.order_id !== void 0 && typeof data.order_id != "string") {
      const err29 = { instancePath: instancePath + "/order_id", schemaPath: "#/properties/order_id/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err29] : vErrors.push(err29), errors++;
    }
    if (data.resource_id !== void 0 && typeof data.resource_id != "string") {
      const err30 = { instancePath: instancePath + "/resource_id", schemaPath: "#/properties/resource_id/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err30] : vErrors.push(err30), errors++;
    }
    if (data.resource_name !== void 0 && typeof data.resource_name != "string") {
      const err31 = { instancePath: instancePath + "/resource_name", schemaPath: "#/properties/resource_name/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err31] : vErrors.push(err31), errors++;
    }
    if (data.created_at !== void 0) {
      let data10 = data.created_at;
      if (!((typeof data10 == "bigint" || Number.isSafeInteger(data10)) && data10 >= 0 && data10 <= 99999999999n)) {
        const err32 = { instancePath: instancePath + "/created_at", schemaPath: "#/properties/created_at/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err32] : vErrors.push(err32), errors++;
      }
    }
    if (data.updated_at !== void 0) {
      let data11 = data.updated_at;
      if (!((typeof data11 == "bigint" || Number.isSafeInteger(data11)) && data11 >= 0 && data11 <= 99999999999n)) {
        const err33 = { instancePath: instancePath + "/updated_at", schemaPath: "#/properties/updated_at/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err33] : vErrors.push(err33), errors++;
      }
    }
    if (data.window_start_time !== void 0) {
      let data12 = data.window_start_time;
      if (!((typeof data12 == "bigint" || Number.isSafeInteger(data12)) && data12 >= 0 && data12 <= 99999999999n)) {
        const err34 = { instancePath: instancePath + "/window_start_time", schemaPath: "#/properties/window_start_time/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err34] : vErrors.push(err34), errors++;
      }
    }
    if (data.window_end_time !== void 0) {
      let data13 = data.window_end_time;
      if (!((typeof data13 == "bigint" || Number.isSafeInteger(data13)) && data13 >= 0 && data13 <= 99999999999n)) {
        const err35 = { instancePath: instancePath + "/window_end_time", schemaPath: "#/properties/window_end_time/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err35] : vErrors.push(err35), errors++;
      }
    }
    if (data["action.days"] !== void 0) {
      let data14 = data["action.days"];
      if (!((typeof data14 == "bigint" || Number.isSafeInteger(data14)) && data14 >= -9223372036854775808n && data14 <= 9223372036854775807n)) {
        const err36 = { instancePath: instancePath + "/action.days", schemaPath: "#/properties/action.days/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err36] : vErrors.push(err36), errors++;
      }
    }
    if (data["error.days"] !== void 0) {
      let data15 = data["error.days"];
      if (!((typeof data15 == "bigint" || Number.isSafeInteger(data15)) && data15 >= -9223372036854775808n && data15 <= 9223372036854775807n)) {
        const err37 = { instancePath: instancePath + "/error.days", schemaPath: "#/properties/error.days/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err37] : vErrors.push(err37), errors++;
      }
    }
    if (data["long_task.days"] !== void 0) {
      let data16 = data["long_task.days"];
      if (!((typeof data16 == "bigint" || Number.isSafeInteger(data16)) && data16 >= -9223372036854775808n && data16 <= 9223372036854775807n)) {
        const err38 = { instancePath: instancePath + "/long_task.days", schemaPath: "#/properties/long_task.days/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err38] : vErrors.push(err38), errors++;
      }
    }
    if (data["resource.days"] !== void 0) {
      let data17 = data["resource.days"];
      if (!((typeof data17 == "bigint" || Number.isSafeInteger(data17)) && data17 >= -9223372036854775808n && data17 <= 9223372036854775807n)) {
        const err39 = { instancePath: instancePath + "/resource.days", schemaPath: "#/properties/resource.days/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err39] : vErrors.push(err39), errors++;
      }
    }
    if (data["session.days"] !== void 0) {
      let data18 = data["session.days"];
      if (!((typeof data18 == "bigint" || Number.isSafeInteger(data18)) && data18 >= -9223372036854775808n && data18 <= 9223372036854775807n)) {
        const err40 = { instancePath: instancePath + "/session.days", schemaPath: "#/properties/session.days/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err40] : vErrors.push(err40), errors++;
      }
    }
    if (data["view.days"] !== void 0) {
      let data19 = data["view.days"];
      if (!((typeof data19 == "bigint" || Number.isSafeInteger(data19)) && data19 >= -9223372036854775808n && data19 <= 9223372036854775807n)) {
        const err41 = { instancePath: instancePath + "/view.days", schemaPath: "#/properties/view.days/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err41] : vErrors.push(err41), errors++;
      }
    }
    if (data["session_investigate.free_cnt"] !== void 0) {
      let data20 = data["session_investigate.free_cnt"];
      if (!((typeof data20 == "bigint" || Number.isSafeInteger(data20)) && data20 >= -9223372036854775808n && data20 <= 9223372036854775807n)) {
        const err42 = { instancePath: instancePath + "/session_investigate.free_cnt", schemaPath: "#/properties/session_investigate.free_cnt/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err42] : vErrors.push(err42), errors++;
      }
    }
    if (data["session_measure.free_cnt"] !== void 0) {
      let data21 = data["session_measure.free_cnt"];
      if (!((typeof data21 == "bigint" || Number.isSafeInteger(data21)) && data21 >= -9223372036854775808n && data21 <= 9223372036854775807n)) {
        const err43 = { instancePath: instancePath + "/session_measure.free_cnt", schemaPath: "#/properties/session_measure.free_cnt/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err43] : vErrors.push(err43), errors++;
      }
    }
    if (data["session_replay.free_cnt"] !== void 0) {
      let data22 = data["session_replay.free_cnt"];
      if (!((typeof data22 == "bigint" || Number.isSafeInteger(data22)) && data22 >= -9223372036854775808n && data22 <= 9223372036854775807n)) {
        const err44 = { instancePath: instancePath + "/session_replay.free_cnt", schemaPath: "#/properties/session_replay.free_cnt/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err44] : vErrors.push(err44), errors++;
      }
    }
    if (data.deleted !== void 0 && typeof data.deleted != "boolean") {
      const err45 = { instancePath: instancePath + "/deleted", schemaPath: "#/properties/deleted/type", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err45] : vErrors.push(err45), errors++;
    }
  } else {
    const err46 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err46] : vErrors.push(err46), errors++;
  }
  return validate15.errors = vErrors, errors === 0;
}
const data_rum_usage = validate16;
function validate16(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.session_limit_reached === void 0) {
      const err1 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "session_limit_reached" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data["session_investigate.used_cnt"] === void 0) {
      const err2 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "session_investigate.used_cnt" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    if (data["session_measure.used_cnt"] === void 0) {
      const err3 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "session_measure.used_cnt" } };
      vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
    }
    if (data["session_replay.used_cnt"] === void 0) {
      const err4 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "session_replay.used_cnt" } };
      vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
    }
    for (const key0 in data)
      if (!(key0 === "kind" || key0 === "account_id" || key0 === "at_ms" || key0 === "session_limit_reached" || key0 === "session_investigate.used_cnt" || key0 === "session_measure.used_cnt" || key0 === "session_replay.used_cnt")) {
        const err5 = { instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err6 = { instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err7 = { instancePath: instancePath + "/account_id", schemaPath: "#/properties/account_id/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
      }
    }
    if (data.at_ms !== void 0) {
      let data2 = data.at_ms;
      if (!((typeof data2 == "bigint" || Number.isSafeInteger(data2)) && data2 >= 0 && data2 <= 9999999999999n)) {
        const err8 = { instancePath: instancePath + "/at_ms", schemaPath: "#/properties/at_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
      }
    }
    if (data.session_limit_reached !== void 0 && typeof data.session_limit_reached != "boolean") {
      const err9 = { instancePath: instancePath + "/session_limit_reached", schemaPath: "#/properties/session_limit_reached/type", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
    }
    if (data["session_investigate.used_cnt"] !== void 0) {
      let data4 = data["session_investigate.used_cnt"];
      if (!((typeof data4 == "bigint" || Number.isSafeInteger(data4)) && data4 >= -9223372036854775808n && data4 <= 9223372036854775807n)) {
        const err10 = { instancePath: instancePath + "/session_investigate.used_cnt", schemaPath: "#/properties/session_investigate.used_cnt/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
      }
    }
    if (data["session_measure.used_cnt"] !== void 0) {
      let data5 = data["session_measure.used_cnt"];
      if (!((typeof data5 == "bigint" || Number.isSafeInteger(data5)) && data5 >= -9223372036854775808n && data5 <= 9223372036854775807n)) {
        const err11 = { instancePath: instancePath + "/session_measure.used_cnt", schemaPath: "#/properties/session_measure.used_cnt/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
      }
    }
    if (data["session_replay.used_cnt"] !== void 0) {
      let data6 = data["session_replay.used_cnt"];
      if (!((typeof data6 == "bigint" || Number.isSafeInteger(data6)) && data6 >= -9223372036854775808n && data6 <= 9223372036854775807n)) {
        const err12 = { instancePath: instancePath + "/session_replay.used_cnt", schemaPath: "#/properties/session_replay.used_cnt/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
      }
    }
  } else {
    const err13 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
  }
  return validate16.errors = vErrors, errors === 0;
}
const data_work_item = validate17;
function validate17(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.work_item_id === void 0) {
      const err1 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "work_item_id" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.version === void 0) {
      const err2 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "version" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    if (data.title === void 0) {
      const err3 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "title" } };
      vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
    }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err4 = { instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err5 = { instancePath: instancePath + "/account_id", schemaPath: "#/properties/account_id/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
      }
    }
    if (data.at_ms !== void 0) {
      let data2 = data.at_ms;
      if (!((typeof data2 == "bigint" || Number.isSafeInteger(data2)) && data2 >= 0 && data2 <= 9999999999999n)) {
        const err6 = { instancePath: instancePath + "/at_ms", schemaPath: "#/properties/at_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
      }
    }
    if (data.work_item_id !== void 0) {
      let data3 = data.work_item_id;
      if (typeof data3 == "string") {
        if (func2(data3) > 128) {
          const err7 = { instancePath: instancePath + "/work_item_id", schemaPath: "#/properties/work_item_id/maxLength", keyword: "maxLength", params: { limit: 128 } };
          vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
        }
        if (func2(data3) < 1) {
          const err8 = { instancePath: instancePath + "/work_item_id", schemaPath: "#/properties/work_item_id/minLength", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
        }
      } else {
        const err9 = { instancePath: instancePath + "/work_item_id", schemaPath: "#/properties/work_item_id/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
      }
    }
    if (data.version !== void 0) {
      let data4 = data.version;
      if (!((typeof data4 == "bigint" || Number.isSafeInteger(data4)) && data4 >= 1 && data4 <= 9223372036854775807n)) {
        const err10 = { instancePath: instancePath + "/version", schemaPath: "#/properties/version/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
      }
    }
    if (data.title !== void 0 && typeof data.title != "string") {
      const err11 = { instancePath: instancePath + "/title", schemaPath: "#/properties/title/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
    }
    if (data.deleted_at_ms !== void 0) {
      let data6 = data.deleted_at_ms;
      if (!((typeof data6 == "bigint" || Number.isSafeInteger(data6)) && data6 >= 0 && data6 <= 9223372036854775807n)) {
        const err12 = { instancePath: instancePath + "/deleted_at_ms", schemaPath: "#/properties/deleted_at_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
      }
    }
    if (data.deleted_by !== void 0 && typeof data.deleted_by != "string") {
      const err13 = { instancePath: instancePath + "/deleted_by", schemaPath: "#/properties/deleted_by/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
    }
  } else {
    const err14 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
  }
  return validate17.errors = vErrors, errors === 0;
}
const data_incident = validate18;
const pattern1 = new RegExp("^[0-9a-fA-F]{24}$", "u");
function validate18(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.incident_id === void 0) {
      const err1 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "incident_id" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.title === void 0) {
      const err2 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "title" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    for (const key0 in data)
      if (!(key0 === "kind" || key0 === "account_id" || key0 === "at_ms" || key0 === "incident_id" || key0 === "title" || key0 === "owner_id")) {
        const err3 = { instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err4 = { instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err5 = { instancePath: instancePath + "/account_id", schemaPath: "#/properties/account_id/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
      }
    }
    if (data.at_ms !== void 0) {
      let data2 = data.at_ms;
      if (!((typeof data2 == "bigint" || Number.isSafeInteger(data2)) && data2 >= 0 && data2 <= 9999999999999n)) {
        const err6 = { instancePath: instancePath + "/at_ms", schemaPath: "#/properties/at_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
      }
    }
    if (data.incident_id !== void 0) {
      let data3 = data.incident_id;
      if (typeof data3 == "string") {
        if (!pattern1.test(data3)) {
          const err7 = { instancePath: instancePath + "/incident_id", schemaPath: "#/properties/incident_id/pattern", keyword: "pattern", params: { pattern: "^[0-9a-fA-F]{24}$" } };
          vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
        }
      } else {
        const err8 = { instancePath: instancePath + "/incident_id", schemaPath: "#/properties/incident_id/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
      }
    }
    if (data.title !== void 0) {
      let data4 = data.title;
      if (typeof data4 == "string") {
        if (func2(data4) > 512) {
          const err9 = { instancePath: instancePath + "/title", schemaPath: "#/properties/title/maxLength", keyword: "maxLength", params: { limit: 512 } };
          vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
        }
      } else {
        const err10 = { instancePath: instancePath + "/title", schemaPath: "#/properties/title/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
      }
    }
    if (data.owner_id !== void 0) {
      let data5 = data.owner_id;
      if (!((typeof data5 == "bigint" || Number.isSafeInteger(data5)) && data5 >= -9223372036854775808n && data5 <= 9223372036854775807n)) {
        const err11 = { instancePath: instancePath + "/owner_id", schemaPath: "#/properties/owner_id/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
      }
    }
  } else {
    const err12 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
  }
  return validate18.errors = vErrors, errors === 0;
}
const data_alert = validate19;
function validate19(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.alert_id === void 0) {
      const err1 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "alert_id" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.title === void 0) {
      const err2 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "title" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    for (const key0 in data)
      if (!(key0 === "kind" || key0 === "account_id" || key0 === "at_ms" || key0 === "alert_id" || key0 === "title" || key0 === "incident_id")) {
        const err3 = { instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err4 = { instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err5 = { instancePath: instancePath + "/account_id", schemaPath: "#/properties/account_id/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
      }
    }
    if (data.at_ms !== void 0) {
      let data2 = data.at_ms;
      if (!((typeof data2 == "bigint" || Number.isSafeInteger(data2)) && data2 >= 0 && data2 <= 9999999999999n)) {
        const err6 = { instancePath: instancePath + "/at_ms", schemaPath: "#/properties/at_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
      }
    }
    if (data.alert_id !== void 0) {
      let data3 = data.alert_id;
      if (typeof data3 == "string") {
        if (!pattern1.test(data3)) {
          const err7 = { instancePath: instancePath + "/alert_id", schemaPath: "#/properties/alert_id/pattern", keyword: "pattern", params: { pattern: "^[0-9a-fA-F]{24}$" } };
          vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
        }
      } else {
        const err8 = { instancePath: instancePath + "/alert_id", schemaPath: "#/properties/alert_id/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
      }
    }
    if (data.title !== void 0 && typeof data.title != "string") {
      const err9 = { instancePath: instancePath + "/title", schemaPath: "#/properties/title/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
    }
    if (data.incident_id !== void 0) {
      let data5 = data.incident_id;
      if (typeof data5 == "string") {
        if (!pattern1.test(data5)) {
          const err10 = { instancePath: instancePath + "/incident_id", schemaPath: "#/properties/incident_id/pattern", keyword: "pattern", params: { pattern: "^[0-9a-fA-F]{24}$" } };
          vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
        }
      } else {
        const err11 = { instancePath: instancePath + "/incident_id", schemaPath: "#/properties/incident_id/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
      }
    }
  } else {
    const err12 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
  }
  return validate19.errors = vErrors, errors === 0;
}
const feed_host_status = validate20, schema21 = { type: "object", required: ["account_id", "host_id"], properties: { kind: { type: "string" }, account_id: { int64: { minimum: 1 } }, at_ms: { int64: { minimum: 0, maximum: 9999999999999 } }, host_id: { type: "string", minLength: 1, maxLength: 256 }, received_at_ms: { int64: { minimum: 0 } }, observed_at_ms: { int64: { minimum: 0 } }, node_count: { int64: { minimum: 0 } }, edge_count: { int64: { minimum: 0 } }, authoritative: { type: "boolean" }, graph_available: { type: "boolean" }, snapshot_truncated: { type: "boolean" }, snapshot_degraded: { type: "boolean" }, health_at_ms: { int64: { minimum: 0 } }, reason_codes: { type: "array", items: { type: "string" } } }, additionalProperties: !1 };
function validate20(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.host_id === void 0) {
      const err1 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "host_id" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    for (const key0 in data)
      if (!func4.call(schema21.properties, key0)) {
        const err2 = { instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err3 = { instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err4 = { instancePath: instancePath + "/account_id", schemaPath: "#/properties/account_id/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
      }
    }
    if (data.at_ms !== void 0) {
      let data2 = data.at_ms;
      if (!((typeof data2 == "bigint" || Number.isSafeInteger(data2)) && data2 >= 0 && data2 <= 9999999999999n)) {
        const err5 = { instancePath: instancePath + "/at_ms", schemaPath: "#/properties/at_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
      }
    }
    if (data.host_id !== void 0) {
      let data3 = data.host_id;
      if (typeof data3 == "string") {
        if (func2(data3) > 256) {
          const err6 = { instancePath: instancePath + "/host_id", schemaPath: "#/properties/host_id/maxLength", keyword: "maxLength", params: { limit: 256 } };
          vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
        }
        if (func2(data3) < 1) {
          const err7 = { instancePath: instancePath + "/host_id", schemaPath: "#/properties/host_id/minLength", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
        }
      } else {
        const err8 = { instancePath: instancePath + "/host_id", schemaPath: "#/properties/host_id/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
      }
    }
    if (data.received_at_ms !== void 0) {
      let data4 = data.received_at_ms;
      if (!((typeof data4 == "bigint" || Number.isSafeInteger(data4)) && data4 >= 0 && data4 <= 9223372036854775807n)) {
        const err9 = { instancePath: instancePath + "/received_at_ms", schemaPath: "#/properties/received_at_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
      }
    }
    if (data.observed_at_ms !== void 0) {
      let data5 = data.observed_at_ms;
      if (!((typeof data5 == "bigint" || Number.isSafeInteger(data5)) && data5 >= 0 && data5 <= 9223372036854775807n)) {
        const err10 = { instancePath: instancePath + "/observed_at_ms", schemaPath: "#/properties/observed_at_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
      }
    }
    if (data.node_count !== void 0) {
      let data6 = data.node_count;
      if (!((typeof data6 == "bigint" || Number.isSafeInteger(data6)) && data6 >= 0 && data6 <= 9223372036854775807n)) {
        const err11 = { instancePath: instancePath + "/node_count", schemaPath: "#/properties/node_count/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
      }
    }
    if (data.edge_count !== void 0) {
      let data7 = data.edge_count;
      if (!((typeof data7 == "bigint" || Number.isSafeInteger(data7)) && data7 >= 0 && data7 <= 9223372036854775807n)) {
        const err12 = { instancePath: instancePath + "/edge_count", schemaPath: "#/properties/edge_count/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
      }
    }
    if (data.authoritative !== void 0 && typeof data.authoritative != "boolean") {
      const err13 = { instancePath: instancePath + "/authoritative", schemaPath: "#/properties/authoritative/type", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
    }
    if (data.graph_available !== void 0 && typeof data.graph_available != "boolean") {
      const err14 = { instancePath: instancePath + "/graph_available", schemaPath: "#/properties/graph_available/type", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
    }
    if (data.snapshot_truncated !== void 0 && typeof data.snapshot_truncated != "boolean") {
      const err15 = { instancePath: instancePath + "/snapshot_truncated", schemaPath: "#/properties/snapshot_truncated/type", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err15] : vErrors.push(err15), errors++;
    }
    if (data.snapshot_degraded !== void 0 && typeof data.snapshot_degraded != "boolean") {
      const err16 = { instancePath: instancePath + "/snapshot_degraded", schemaPath: "#/properties/snapshot_degraded/type", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err16] : vErrors.push(err16), errors++;
    }
    if (data.health_at_ms !== void 0) {
      let data12 = data.health_at_ms;
      if (!((typeof data12 == "bigint" || Number.isSafeInteger(data12)) && data12 >= 0 && data12 <= 9223372036854775807n)) {
        const err17 = { instancePath: instancePath + "/health_at_ms", schemaPath: "#/properties/health_at_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err17] : vErrors.push(err17), errors++;
      }
    }
    if (data.reason_codes !== void 0) {
      let data13 = data.reason_codes;
      if (Array.isArray(data13)) {
        const len0 = data13.length;
        for (let i0 = 0; i0 < len0; i0++)
          if (typeof data13[i0] != "string") {
            const err18 = { instancePath: instancePath + "/reason_codes/" + i0, schemaPath: "#/properties/reason_codes/items/type", keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err18] : vErrors.push(err18), errors++;
          }
      } else {
        const err19 = { instancePath: instancePath + "/reason_codes", schemaPath: "#/properties/reason_codes/type", keyword: "type", params: { type: "array" } };
        vErrors === null ? vErrors = [err19] : vErrors.push(err19), errors++;
      }
    }
  } else {
    const err20 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err20] : vErrors.push(err20), errors++;
  }
  return validate20.errors = vErrors, errors === 0;
}
const feed_alert = validate21;
function validate21(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.title === void 0) {
      const err1 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "title" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    for (const key0 in data)
      if (!(key0 === "kind" || key0 === "account_id" || key0 === "at_ms" || key0 === "alert_id" || key0 === "title" || key0 === "incident_id" || key0 === "source_id")) {
        const err2 = { instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err3 = { instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err4 = { instancePath: instancePath + "/account_id", schemaPath: "#/properties/account_id/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
      }
    }
    if (data.at_ms !== void 0) {
      let data2 = data.at_ms;
      if (!((typeof data2 == "bigint" || Number.isSafeInteger(data2)) && data2 >= 0 && data2 <= 9999999999999n)) {
        const err5 = { instancePath: instancePath + "/at_ms", schemaPath: "#/properties/at_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
      }
    }
    if (data.alert_id !== void 0) {
      let data3 = data.alert_id;
      if (typeof data3 == "string") {
        if (!pattern1.test(data3)) {
          const err6 = { instancePath: instancePath + "/alert_id", schemaPath: "#/properties/alert_id/pattern", keyword: "pattern", params: { pattern: "^[0-9a-fA-F]{24}$" } };
          vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
        }
      } else {
        const err7 = { instancePath: instancePath + "/alert_id", schemaPath: "#/properties/alert_id/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
      }
    }
    if (data.title !== void 0 && typeof data.title != "string") {
      const err8 = { instancePath: instancePath + "/title", schemaPath: "#/properties/title/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
    }
    if (data.incident_id !== void 0) {
      let data5 = data.incident_id;
      if (typeof data5 == "string") {
        if (!pattern1.test(data5)) {
          const err9 = { instancePath: instancePath + "/incident_id", schemaPath: "#/properties/incident_id/pattern", keyword: "pattern", params: { pattern: "^[0-9a-fA-F]{24}$" } };
          vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
        }
      } else {
        const err10 = { instancePath: instancePath + "/incident_id", schemaPath: "#/properties/incident_id/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
      }
    }
    if (data.source_id !== void 0) {
      let data6 = data.source_id;
      if (typeof data6 == "string") {
        if (func2(data6) > 1024) {
          const err11 = { instancePath: instancePath + "/source_id", schemaPath: "#/properties/source_id/maxLength", keyword: "maxLength", params: { limit: 1024 } };
          vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
        }
        if (func2(data6) < 1) {
          const err12 = { instancePath: instancePath + "/source_id", schemaPath: "#/properties/source_id/minLength", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
        }
      } else {
        const err13 = { instancePath: instancePath + "/source_id", schemaPath: "#/properties/source_id/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
      }
    }
  } else {
    const err14 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
  }
  return validate21.errors = vErrors, errors === 0;
}
const feed_retired_host = validate22, schema23 = { type: "object", required: ["account_id", "host_id", "retired"], properties: { kind: { type: "string" }, account_id: { int64: { minimum: 1 } }, at_ms: { int64: { minimum: 0, maximum: 9999999999999 } }, host_id: { type: "string", minLength: 1, maxLength: 256 }, agent_version: { type: "string" }, edge_cluster: { type: "string" }, enabled: { type: "boolean" }, capability_status: { type: "string" }, capture_mode: { type: "string", enum: ["ebpf", "polling"] }, report_interval_ms: { int64: { minimum: 1 } }, snapshot_ready: { type: "boolean" }, reason_codes: { type: "array", items: { type: "string" } }, retired: { const: !0 } }, additionalProperties: !1 };
function validate22(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.host_id === void 0) {
      const err1 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "host_id" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.retired === void 0) {
      const err2 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "retired" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    for (const key0 in data)
      if (!func4.call(schema23.properties, key0)) {
        const err3 = { instancePath, schemaPath: "#/additionalProperties", keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err4 = { instancePath: instancePath + "/kind", schemaPath: "#/properties/kind/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err5 = { instancePath: instancePath + "/account_id", schemaPath: "#/properties/account_id/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
      }
    }
    if (data.at_ms !== void 0) {
      let data2 = data.at_ms;
      if (!((typeof data2 == "bigint" || Number.isSafeInteger(data2)) && data2 >= 0 && data2 <= 9999999999999n)) {
        const err6 = { instancePath: instancePath + "/at_ms", schemaPath: "#/properties/at_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
      }
    }
    if (data.host_id !== void 0) {
      let data3 = data.host_id;
      if (typeof data3 == "string") {
        if (func2(data3) > 256) {
          const err7 = { instancePath: instancePath + "/host_id", schemaPath: "#/properties/host_id/maxLength", keyword: "maxLength", params: { limit: 256 } };
          vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
        }
        if (func2(data3) < 1) {
          const err8 = { instancePath: instancePath + "/host_id", schemaPath: "#/properties/host_id/minLength", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
        }
      } else {
        const err9 = { instancePath: instancePath + "/host_id", schemaPath: "#/properties/host_id/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
      }
    }
    if (data.agent_version !== void 0 && typeof data.agent_version != "string") {
      const err10 = { instancePath: instancePath + "/agent_version", schemaPath: "#/properties/agent_version/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
    }
    if (data.edge_cluster !== void 0 && typeof data.edge_cluster != "string") {
      const err11 = { instancePath: instancePath + "/edge_cluster", schemaPath: "#/properties/edge_cluster/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
    }
    if (data.enabled !== void 0 && typeof data.enabled != "boolean") {
      const err12 = { instancePath: instancePath + "/enabled", schemaPath: "#/properties/enabled/type", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
    }
    if (data.capability_status !== void 0 && typeof data.capability_status != "string") {
      const err13 = { instancePath: instancePath + "/capability_status", schemaPath: "#/properties/capability_status/type", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
    }
    if (data.capture_mode !== void 0) {
      let data8 = data.capture_mode;
      if (typeof data8 != "string") {
        const err14 = { instancePath: instancePath + "/capture_mode", schemaPath: "#/properties/capture_mode/type", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
      }
      if (!(data8 === "ebpf" || data8 === "polling")) {
        const err15 = { instancePath: instancePath + "/capture_mode", schemaPath: "#/properties/capture_mode/enum", keyword: "enum", params: { allowedValues: schema23.properties.capture_mode.enum } };
        vErrors === null ? vErrors = [err15] : vErrors.push(err15), errors++;
      }
    }
    if (data.report_interval_ms !== void 0) {
      let data9 = data.report_interval_ms;
      if (!((typeof data9 == "bigint" || Number.isSafeInteger(data9)) && data9 >= 1 && data9 <= 9223372036854775807n)) {
        const err16 = { instancePath: instancePath + "/report_interval_ms", schemaPath: "#/properties/report_interval_ms/int64", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err16] : vErrors.push(err16), errors++;
      }
    }
    if (data.snapshot_ready !== void 0 && typeof data.snapshot_ready != "boolean") {
      const err17 = { instancePath: instancePath + "/snapshot_ready", schemaPath: "#/properties/snapshot_ready/type", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err17] : vErrors.push(err17), errors++;
    }
    if (data.reason_codes !== void 0) {
      let data11 = data.reason_codes;
      if (Array.isArray(data11)) {
        const len0 = data11.length;
        for (let i0 = 0; i0 < len0; i0++)
          if (typeof data11[i0] != "string") {
            const err18 = { instancePath: instancePath + "/reason_codes/" + i0, schemaPath: "#/properties/reason_codes/items/type", keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err18] : vErrors.push(err18), errors++;
          }
      } else {
        const err19 = { instancePath: instancePath + "/reason_codes", schemaPath: "#/properties/reason_codes/type", keyword: "type", params: { type: "array" } };
        vErrors === null ? vErrors = [err19] : vErrors.push(err19), errors++;
      }
    }
    if (data.retired !== void 0 && data.retired !== !0) {
      const err20 = { instancePath: instancePath + "/retired", schemaPath: "#/properties/retired/const", keyword: "const", params: { allowedValue: !0 } };
      vErrors === null ? vErrors = [err20] : vErrors.push(err20), errors++;
    }
  } else {
    const err21 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err21] : vErrors.push(err21), errors++;
  }
  return validate22.errors = vErrors, errors === 0;
}
export {
  data_account,
  data_alert,
  data_app_key,
  data_host,
  data_host_status,
  data_incident,
  data_member,
  data_rum_resource,
  data_rum_usage,
  data_work_item,
  feed_alert,
  feed_host_status,
  feed_retired_host
};
