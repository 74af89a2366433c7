// Generated from lib/ingest/lines.ts by `npm run generate`: do not edit.
// @ts-nocheck
import { codePoints } from '../shared/json.ts';
const member = validate10;
const func2 = codePoints;
function validate10(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.member_id === void 0) {
      const err1 = { instancePath, keyword: "required", params: { missingProperty: "member_id" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.name === void 0) {
      const err2 = { instancePath, keyword: "required", params: { missingProperty: "name" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    for (const key0 in data)
      if (!(key0 === "kind" || key0 === "account_id" || key0 === "at_ms" || key0 === "member_id" || key0 === "name")) {
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
    if (data.member_id !== void 0) {
      let data3 = data.member_id;
      if (!((typeof data3 == "bigint" || Number.isSafeInteger(data3)) && data3 >= -9223372036854775808n && data3 <= 9223372036854775807n)) {
        const err7 = { instancePath: instancePath + "/member_id", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
      }
    }
    if (data.name !== void 0) {
      let data4 = data.name;
      if (typeof data4 == "string") {
        if (func2(data4) > 512) {
          const err8 = { instancePath: instancePath + "/name", keyword: "maxLength", params: { limit: 512 } };
          vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
        }
        if (func2(data4) < 1) {
          const err9 = { instancePath: instancePath + "/name", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
        }
      } else {
        const err10 = { instancePath: instancePath + "/name", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
      }
    }
  } else {
    const err11 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
  }
  return validate10.errors = vErrors, errors === 0;
}
const host = validate11, schema12 = { type: "object", required: ["account_id", "host_id", "agent_version", "edge_cluster", "enabled", "snapshot_ready"], properties: { kind: { type: "string" }, account_id: { int64: { minimum: 1 } }, at_ms: { int64: { minimum: 1e12, maximum: 9999999999999 } }, host_id: { type: "string", minLength: 1, maxLength: 256 }, agent_version: { type: "string" }, edge_cluster: { type: "string" }, enabled: { type: "boolean" }, capability_status: { type: "string" }, capture_mode: { type: "string", enum: ["ebpf", "polling"] }, report_interval_ms: { int64: { minimum: 1, maximum: 6048e5 } }, snapshot_ready: { type: "boolean" }, reason_codes: { type: "array", items: { type: "string" }, maxItems: 128 }, retired: { const: !1 } }, additionalProperties: !1 }, func4 = Object.prototype.hasOwnProperty;
function validate11(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.host_id === void 0) {
      const err1 = { instancePath, keyword: "required", params: { missingProperty: "host_id" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.agent_version === void 0) {
      const err2 = { instancePath, keyword: "required", params: { missingProperty: "agent_version" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    if (data.edge_cluster === void 0) {
      const err3 = { instancePath, keyword: "required", params: { missingProperty: "edge_cluster" } };
      vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
    }
    if (data.enabled === void 0) {
      const err4 = { instancePath, keyword: "required", params: { missingProperty: "enabled" } };
      vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
    }
    if (data.snapshot_ready === void 0) {
      const err5 = { instancePath, keyword: "required", params: { missingProperty: "snapshot_ready" } };
      vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
    }
    for (const key0 in data)
      if (!func4.call(schema12.properties, key0)) {
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
    if (data.host_id !== void 0) {
      let data3 = data.host_id;
      if (typeof data3 == "string") {
        if (func2(data3) > 256) {
          const err10 = { instancePath: instancePath + "/host_id", keyword: "maxLength", params: { limit: 256 } };
          vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
        }
        if (func2(data3) < 1) {
          const err11 = { instancePath: instancePath + "/host_id", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
        }
      } else {
        const err12 = { instancePath: instancePath + "/host_id", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
      }
    }
    if (data.agent_version !== void 0 && typeof data.agent_version != "string") {
      const err13 = { instancePath: instancePath + "/agent_version", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
    }
    if (data.edge_cluster !== void 0 && typeof data.edge_cluster != "string") {
      const err14 = { instancePath: instancePath + "/edge_cluster", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
    }
    if (data.enabled !== void 0 && typeof data.enabled != "boolean") {
      const err15 = { instancePath: instancePath + "/enabled", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err15] : vErrors.push(err15), errors++;
    }
    if (data.capability_status !== void 0 && typeof data.capability_status != "string") {
      const err16 = { instancePath: instancePath + "/capability_status", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err16] : vErrors.push(err16), errors++;
    }
    if (data.capture_mode !== void 0) {
      let data8 = data.capture_mode;
      if (typeof data8 != "string") {
        const err17 = { instancePath: instancePath + "/capture_mode", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err17] : vErrors.push(err17), errors++;
      }
      if (!(data8 === "ebpf" || data8 === "polling")) {
        const err18 = { instancePath: instancePath + "/capture_mode", keyword: "enum", params: { allowedValues: schema12.properties.capture_mode.enum } };
        vErrors === null ? vErrors = [err18] : vErrors.push(err18), errors++;
      }
    }
    if (data.report_interval_ms !== void 0) {
      let data9 = data.report_interval_ms;
      if (!((typeof data9 == "bigint" || Number.isSafeInteger(data9)) && data9 >= 1 && data9 <= 604800000n)) {
        const err19 = { instancePath: instancePath + "/report_interval_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err19] : vErrors.push(err19), errors++;
      }
    }
    if (data.snapshot_ready !== void 0 && typeof data.snapshot_ready != "boolean") {
      const err20 = { instancePath: instancePath + "/snapshot_ready", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err20] : vErrors.push(err20), errors++;
    }
    if (data.reason_codes !== void 0) {
      let data11 = data.reason_codes;
      if (Array.isArray(data11)) {
        if (data11.length > 128) {
          const err21 = { instancePath: instancePath + "/reason_codes", keyword: "maxItems", params: { limit: 128 } };
          vErrors === null ? vErrors = [err21] : vErrors.push(err21), errors++;
        }
        const len0 = data11.length;
        for (let i0 = 0; i0 < len0; i0++)
          if (typeof data11[i0] != "string") {
            const err22 = { instancePath: instancePath + "/reason_codes/" + i0, keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err22] : vErrors.push(err22), errors++;
          }
      } else {
        const err23 = { instancePath: instancePath + "/reason_codes", keyword: "type", params: { type: "array" } };
        vErrors === null ? vErrors = [err23] : vErrors.push(err23), errors++;
      }
    }
    if (data.retired !== void 0 && data.retired !== !1) {
      const err24 = { instancePath: instancePath + "/retired", keyword: "const", params: { allowedValue: !1 } };
      vErrors === null ? vErrors = [err24] : vErrors.push(err24), errors++;
    }
  } else {
    const err25 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err25] : vErrors.push(err25), errors++;
  }
  return validate11.errors = vErrors, errors === 0;
}
const host_status = validate12, schema13 = { type: "object", required: ["account_id", "host_id"], properties: { kind: { type: "string" }, account_id: { int64: { minimum: 1 } }, at_ms: { int64: { minimum: 1e12, maximum: 9999999999999 } }, host_id: { type: "string", minLength: 1, maxLength: 256 }, received_at_ms: { int64: { minimum: 1e12, maximum: 9999999999999 } }, observed_at_ms: { int64: { minimum: 1e12, maximum: 9999999999999 } }, node_count: { int64: { minimum: 0 } }, edge_count: { int64: { minimum: 0 } }, authoritative: { type: "boolean" }, graph_available: { type: "boolean" }, snapshot_truncated: { type: "boolean" }, snapshot_degraded: { type: "boolean" }, health_at_ms: { int64: { minimum: 1e12, maximum: 9999999999999 } }, reason_codes: { type: "array", items: { type: "string" }, maxItems: 128 } }, additionalProperties: !1 };
function validate12(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.host_id === void 0) {
      const err1 = { instancePath, keyword: "required", params: { missingProperty: "host_id" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    for (const key0 in data)
      if (!func4.call(schema13.properties, key0)) {
        const err2 = { instancePath, keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err3 = { instancePath: instancePath + "/kind", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err4 = { instancePath: instancePath + "/account_id", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
      }
    }
    if (data.at_ms !== void 0) {
      let data2 = data.at_ms;
      if (!((typeof data2 == "bigint" || Number.isSafeInteger(data2)) && data2 >= 1e12 && data2 <= 9999999999999n)) {
        const err5 = { instancePath: instancePath + "/at_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
      }
    }
    if (data.host_id !== void 0) {
      let data3 = data.host_id;
      if (typeof data3 == "string") {
        if (func2(data3) > 256) {
          const err6 = { instancePath: instancePath + "/host_id", keyword: "maxLength", params: { limit: 256 } };
          vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
        }
        if (func2(data3) < 1) {
          const err7 = { instancePath: instancePath + "/host_id", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
        }
      } else {
        const err8 = { instancePath: instancePath + "/host_id", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
      }
    }
    if (data.received_at_ms !== void 0) {
      let data4 = data.received_at_ms;
      if (!((typeof data4 == "bigint" || Number.isSafeInteger(data4)) && data4 >= 1e12 && data4 <= 9999999999999n)) {
        const err9 = { instancePath: instancePath + "/received_at_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
      }
    }
    if (data.observed_at_ms !== void 0) {
      let data5 = data.observed_at_ms;
      if (!((typeof data5 == "bigint" || Number.isSafeInteger(data5)) && data5 >= 1e12 && data5 <= 9999999999999n)) {
        const err10 = { instancePath: instancePath + "/observed_at_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
      }
    }
    if (data.node_count !== void 0) {
      let data6 = data.node_count;
      if (!((typeof data6 == "bigint" || Number.isSafeInteger(data6)) && data6 >= 0 && data6 <= 9223372036854775807n)) {
        const err11 = { instancePath: instancePath + "/node_count", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
      }
    }
    if (data.edge_count !== void 0) {
      let data7 = data.edge_count;
      if (!((typeof data7 == "bigint" || Number.isSafeInteger(data7)) && data7 >= 0 && data7 <= 9223372036854775807n)) {
        const err12 = { instancePath: instancePath + "/edge_count", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
      }
    }
    if (data.authoritative !== void 0 && typeof data.authoritative != "boolean") {
      const err13 = { instancePath: instancePath + "/authoritative", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
    }
    if (data.graph_available !== void 0 && typeof data.graph_available != "boolean") {
      const err14 = { instancePath: instancePath + "/graph_available", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
    }
    if (data.snapshot_truncated !== void 0 && typeof data.snapshot_truncated != "boolean") {
      const err15 = { instancePath: instancePath + "/snapshot_truncated", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err15] : vErrors.push(err15), errors++;
    }
    if (data.snapshot_degraded !== void 0 && typeof data.snapshot_degraded != "boolean") {
      const err16 = { instancePath: instancePath + "/snapshot_degraded", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err16] : vErrors.push(err16), errors++;
    }
    if (data.health_at_ms !== void 0) {
      let data12 = data.health_at_ms;
      if (!((typeof data12 == "bigint" || Number.isSafeInteger(data12)) && data12 >= 1e12 && data12 <= 9999999999999n)) {
        const err17 = { instancePath: instancePath + "/health_at_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err17] : vErrors.push(err17), errors++;
      }
    }
    if (data.reason_codes !== void 0) {
      let data13 = data.reason_codes;
      if (Array.isArray(data13)) {
        if (data13.length > 128) {
          const err18 = { instancePath: instancePath + "/reason_codes", keyword: "maxItems", params: { limit: 128 } };
          vErrors === null ? vErrors = [err18] : vErrors.push(err18), errors++;
        }
        const len0 = data13.length;
        for (let i0 = 0; i0 < len0; i0++)
          if (typeof data13[i0] != "string") {
            const err19 = { instancePath: instancePath + "/reason_codes/" + i0, keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err19] : vErrors.push(err19), errors++;
          }
      } else {
        const err20 = { instancePath: instancePath + "/reason_codes", keyword: "type", params: { type: "array" } };
        vErrors === null ? vErrors = [err20] : vErrors.push(err20), errors++;
      }
    }
  } else {
    const err21 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err21] : vErrors.push(err21), errors++;
  }
  return validate12.errors = vErrors, errors === 0;
}
const rum_resource = validate13, schema14 = { type: "object", required: ["account_id", "product", "version", "status", "offering_id", "order_id", "resource_id", "resource_name", "created_at", "updated_at", "window_start_time", "window_end_time", "action.days", "error.days", "long_task.days", "resource.days", "session.days", "view.days", "session_investigate.free_cnt", "session_measure.free_cnt", "session_replay.free_cnt"], properties: { kind: { type: "string" }, account_id: { int64: { minimum: 1 } }, at_ms: { int64: { minimum: 1e12, maximum: 9999999999999 } }, product: { type: "string" }, version: { type: "string" }, status: { type: "string" }, offering_id: { int64: {} }, order_id: { type: "string" }, resource_id: { type: "string" }, resource_name: { type: "string" }, created_at: { int64: { minimum: 0, maximum: 99999999999 } }, updated_at: { int64: { minimum: 0, maximum: 99999999999 } }, window_start_time: { int64: { minimum: 0, maximum: 99999999999 } }, window_end_time: { int64: { minimum: 0, maximum: 99999999999 } }, "action.days": { int64: {} }, "error.days": { int64: {} }, "long_task.days": { int64: {} }, "resource.days": { int64: {} }, "session.days": { int64: {} }, "view.days": { int64: {} }, "session_investigate.free_cnt": { int64: {} }, "session_measure.free_cnt": { int64: {} }, "session_replay.free_cnt": { int64: {} }, deleted: { type: "boolean" } }, additionalProperties: !1 };
function validate13(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.product === void 0) {
      const err1 = { instancePath, keyword: "required", params: { missingProperty: "product" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.version === void 0) {
      const err2 = { instancePath, keyword: "required", params: { missingProperty: "version" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    if (data.status === void 0) {
      const err3 = { instancePath, keyword: "required", params: { missingProperty: "status" } };
      vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
    }
    if (data.offering_id === void 0) {
      const err4 = { instancePath, keyword: "required", params: { missingProperty: "offering_id" } };
      vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
    }
    if (data.order_id === void 0) {
      const err5 = { instancePath, keyword: "required", params: { missingProperty: "order_id" } };
      vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
    }
    if (data.resource_id === void 0) {
      const err6 = { instancePath, keyword: "required", params: { missingProperty: "resource_id" } };
      vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
    }
    if (data.resource_name === void 0) {
      const err7 = { instancePath, keyword: "required", params: { missingProperty: "resource_name" } };
      vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
    }
    if (data.created_at === void 0) {
      const err8 = { instancePath, keyword: "required", params: { missingProperty: "created_at" } };
      vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
    }
    if (data.updated_at === void 0) {
      const err9 = { instancePath, keyword: "required", params: { missingProperty: "updated_at" } };
      vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
    }
    if (data.window_start_time === void 0) {
      const err10 = { instancePath, keyword: "required", params: { missingProperty: "window_start_time" } };
      vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
    }
    if (data.window_end_time === void 0) {
      const err11 = { instancePath, keyword: "required", params: { missingProperty: "window_end_time" } };
      vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
    }
    if (data["action.days"] === void 0) {
      const err12 = { instancePath, keyword: "required", params: { missingProperty: "action.days" } };
      vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
    }
    if (data["error.days"] === void 0) {
      const err13 = { instancePath, keyword: "required", params: { missingProperty: "error.days" } };
      vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
    }
    if (data["long_task.days"] === void 0) {
      const err14 = { instancePath, keyword: "required", params: { missingProperty: "long_task.days" } };
      vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
    }
    if (data["resource.days"] === void 0) {
      const err15 = { instancePath, keyword: "required", params: { missingProperty: "resource.days" } };
      vErrors === null ? vErrors = [err15] : vErrors.push(err15), errors++;
    }
    if (data["session.days"] === void 0) {
      const err16 = { instancePath, keyword: "required", params: { missingProperty: "session.days" } };
      vErrors === null ? vErrors = [err16] : vErrors.push(err16), errors++;
    }
    if (data["view.days"] === void 0) {
      const err17 = { instancePath, keyword: "required", params: { missingProperty: "view.days" } };
      vErrors === null ? vErrors = [err17] : vErrors.push(err17), errors++;
    }
    if (data["session_investigate.free_cnt"] === void 0) {
      const err18 = { instancePath, keyword: "required", params: { missingProperty: "session_investigate.free_cnt" } };
      vErrors === null ? vErrors = [err18] : vErrors.push(err18), errors++;
    }
    if (data["session_measure.free_cnt"] === void 0) {
      const err19 = { instancePath, keyword: "required", params: { missingProperty: "session_measure.free_cnt" } };
      vErrors === null ? vErrors = [err19] : vErrors.push(err19), errors++;
    }
    if (data["session_replay.free_cnt"] === void 0) {
      const err20 = { instancePath, keyword: "required", params: { missingProperty: "session_replay.free_cnt" } };
      vErrors === null ? vErrors = [err20] : vErrors.push(err20), errors++;
    }
    for (const key0 in data)
      if (!func4.call(schema14.properties, key0)) {
        const err21 = { instancePath, keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err21] : vErrors.push(err21), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err22 = { instancePath: instancePath + "/kind", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err22] : vErrors.push(err22), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err23 = { instancePath: instancePath + "/account_id", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err23] : vErrors.push(err23), errors++;
      }
    }
    if (data.at_ms !== void 0) {
      let data2 = data.at_ms;
      if (!((typeof data2 == "bigint" || Number.isSafeInteger(data2)) && data2 >= 1e12 && data2 <= 9999999999999n)) {
        const err24 = { instancePath: instancePath + "/at_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err24] : vErrors.push(err24), errors++;
      }
    }
    if (data.product !== void 0 && typeof data.product != "string") {
      const err25 = { instancePath: instancePath + "/product", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err25] : vErrors.push(err25), errors++;
    }
    if (data.version !== void 0 && typeof data.version != "string") {
      const err26 = { instancePath: instancePath + "/version", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err26] : vErrors.push(err26), errors++;
    }
    if (data.status !== void 0 && typeof data.status != "string") {
      const err27 = { instancePath: instancePath + "/status", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err27] : vErrors.push(err27), errors++;
    }
    if (data.offering_id !== void 0) {
      let data6 = data.offering_id;
      if (!((typeof data6 == "bigint" || Number.isSafeInteger(data6)) && data6 >= -9223372036854775808n && data6 <= 9223372036854775807n)) {
        const err28 = { instancePath: instancePath + "/offering_id", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err28] : vErrors.push(err28), errors++;
      }
    }
    if (data.order_id !== void 0 && typeof data.order_id != "string") {
      const err29 = { instancePath: instancePath + "/order_id", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err29] : vErrors.push(err29), errors++;
    }
    if (data.resource_id !== void 0 && typeof data.resource_id != "string") {
      const err30 = { instancePath: instancePath + "/resource_id", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err30] : vErrors.push(err30), errors++;
    }
    if (data.resource_name !== void 0 && typeof data.resource_name != "string") {
      const err31 = { instancePath: instancePath + "/resource_name", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err31] : vErrors.push(err31), errors++;
    }
    if (data.created_at !== void 0) {
      let data10 = data.created_at;
      if (!((typeof data10 == "bigint" || Number.isSafeInteger(data10)) && data10 >= 0 && data10 <= 99999999999n)) {
        const err32 = { instancePath: instancePath + "/created_at", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err32] : vErrors.push(err32), errors++;
      }
    }
    if (data.updated_at !== void 0) {
      let data11 = data.updated_at;
      if (!((typeof data11 == "bigint" || Number.isSafeInteger(data11)) && data11 >= 0 && data11 <= 99999999999n)) {
        const err33 = { instancePath: instancePath + "/updated_at", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err33] : vErrors.push(err33), errors++;
      }
    }
    if (data.window_start_time !== void 0) {
      let data12 = data.window_start_time;
      if (!((typeof data12 == "bigint" || Number.isSafeInteger(data12)) && data12 >= 0 && data12 <= 99999999999n)) {
        const err34 = { instancePath: instancePath + "/window_start_time", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err34] : vErrors.push(err34), errors++;
      }
    }
    if (data.window_end_time !== void 0) {
      let data13 = data.window_end_time;
      if (!((typeof data13 == "bigint" || Number.isSafeInteger(data13)) && data13 >= 0 && data13 <= 99999999999n)) {
        const err35 = { instancePath: instancePath + "/window_end_time", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err35] : vErrors.push(err35), errors++;
      }
    }
    if (data["action.days"] !== void 0) {
      let data14 = data["action.days"];
      if (!((typeof data14 == "bigint" || Number.isSafeInteger(data14)) && data14 >= -9223372036854775808n && data14 <= 9223372036854775807n)) {
        const err36 = { instancePath: instancePath + "/action.days", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err36] : vErrors.push(err36), errors++;
      }
    }
    if (data["error.days"] !== void 0) {
      let data15 = data["error.days"];
      if (!((typeof data15 == "bigint" || Number.isSafeInteger(data15)) && data15 >= -9223372036854775808n && data15 <= 9223372036854775807n)) {
        const err37 = { instancePath: instancePath + "/error.days", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err37] : vErrors.push(err37), errors++;
      }
    }
    if (data["long_task.days"] !== void 0) {
      let data16 = data["long_task.days"];
      if (!((typeof data16 == "bigint" || Number.isSafeInteger(data16)) && data16 >= -9223372036854775808n && data16 <= 9223372036854775807n)) {
        const err38 = { instancePath: instancePath + "/long_task.days", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err38] : vErrors.push(err38), errors++;
      }
    }
    if (data["resource.days"] !== void 0) {
      let data17 = data["resource.days"];
      if (!((typeof data17 == "bigint" || Number.isSafeInteger(data17)) && data17 >= -9223372036854775808n && data17 <= 9223372036854775807n)) {
        const err39 = { instancePath: instancePath + "/resource.days", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err39] : vErrors.push(err39), errors++;
      }
    }
    if (data["session.days"] !== void 0) {
      let data18 = data["session.days"];
      if (!((typeof data18 == "bigint" || Number.isSafeInteger(data18)) && data18 >= -9223372036854775808n && data18 <= 9223372036854775807n)) {
        const err40 = { instancePath: instancePath + "/session.days", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err40] : vErrors.push(err40), errors++;
      }
    }
    if (data["view.days"] !== void 0) {
      let data19 = data["view.days"];
      if (!((typeof data19 == "bigint" || Number.isSafeInteger(data19)) && data19 >= -9223372036854775808n && data19 <= 9223372036854775807n)) {
        const err41 = { instancePath: instancePath + "/view.days", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err41] : vErrors.push(err41), errors++;
      }
    }
    if (data["session_investigate.free_cnt"] !== void 0) {
      let data20 = data["session_investigate.free_cnt"];
      if (!((typeof data20 == "bigint" || Number.isSafeInteger(data20)) && data20 >= -9223372036854775808n && data20 <= 9223372036854775807n)) {
        const err42 = { instancePath: instancePath + "/session_investigate.free_cnt", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err42] : vErrors.push(err42), errors++;
      }
    }
    if (data["session_measure.free_cnt"] !== void 0) {
      let data21 = data["session_measure.free_cnt"];
      if (!((typeof data21 == "bigint" || Number.isSafeInteger(data21)) && data21 >= -9223372036854775808n && data21 <= 9223372036854775807n)) {
        const err43 = { instancePath: instancePath + "/session_measure.free_cnt", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err43] : vErrors.push(err43), errors++;
      }
    }
    if (data["session_replay.free_cnt"] !== void 0) {
      let data22 = data["session_replay.free_cnt"];
      if (!((typeof data22 == "bigint" || Number.isSafeInteger(data22)) && data22 >= -9223372036854775808n && data22 <= 9223372036854775807n)) {
        const err44 = { instancePath: instancePath + "/session_replay.free_cnt", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err44] : vErrors.push(err44), errors++;
      }
    }
    if (data.deleted !== void 0 && typeof data.deleted != "boolean") {
      const err45 = { instancePath: instancePath + "/deleted", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err45] : vErrors.push(err45), errors++;
    }
  } else {
    const err46 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err46] : vErrors.push(err46), errors++;
  }
  return validate13.errors = vErrors, errors === 0;
}
const rum_usage = validate14;
function validate14(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.session_limit_reached === void 0) {
      const err1 = { instancePath, keyword: "required", params: { missingProperty: "session_limit_reached" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data["session_investigate.used_cnt"] === void 0) {
      const err2 = { instancePath, keyword: "required", params: { missingProperty: "session_investigate.used_cnt" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    if (data["session_measure.used_cnt"] === void 0) {
      const err3 = { instancePath, keyword: "required", params: { missingProperty: "session_measure.used_cnt" } };
      vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
    }
    if (data["session_replay.used_cnt"] === void 0) {
      const err4 = { instancePath, keyword: "required", params: { missingProperty: "session_replay.used_cnt" } };
      vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
    }
    for (const key0 in data)
      if (!(key0 === "kind" || key0 === "account_id" || key0 === "at_ms" || key0 === "session_limit_reached" || key0 === "session_investigate.used_cnt" || key0 === "session_measure.used_cnt" || key0 === "session_replay.used_cnt")) {
        const err5 = { instancePath, keyword: "additionalProperties", params: { additionalProperty: key0 } };
        vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
      }
    if (data.kind !== void 0 && typeof data.kind != "string") {
      const err6 = { instancePath: instancePath + "/kind", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
    }
    if (data.account_id !== void 0) {
      let data1 = data.account_id;
      if (!((typeof data1 == "bigint" || Number.isSafeInteger(data1)) && data1 >= 1 && data1 <= 9223372036854775807n)) {
        const err7 = { instancePath: instancePath + "/account_id", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
      }
    }
    if (data.at_ms !== void 0) {
      let data2 = data.at_ms;
      if (!((typeof data2 == "bigint" || Number.isSafeInteger(data2)) && data2 >= 1e12 && data2 <= 9999999999999n)) {
        const err8 = { instancePath: instancePath + "/at_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
      }
    }
    if (data.session_limit_reached !== void 0 && typeof data.session_limit_reached != "boolean") {
      const err9 = { instancePath: instancePath + "/session_limit_reached", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
    }
    if (data["session_investigate.used_cnt"] !== void 0) {
      let data4 = data["session_investigate.used_cnt"];
      if (!((typeof data4 == "bigint" || Number.isSafeInteger(data4)) && data4 >= -9223372036854775808n && data4 <= 9223372036854775807n)) {
        const err10 = { instancePath: instancePath + "/session_investigate.used_cnt", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
      }
    }
    if (data["session_measure.used_cnt"] !== void 0) {
      let data5 = data["session_measure.used_cnt"];
      if (!((typeof data5 == "bigint" || Number.isSafeInteger(data5)) && data5 >= -9223372036854775808n && data5 <= 9223372036854775807n)) {
        const err11 = { instancePath: instancePath + "/session_measure.used_cnt", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
      }
    }
    if (data["session_replay.used_cnt"] !== void 0) {
      let data6 = data["session_replay.used_cnt"];
      if (!((typeof data6 == "bigint" || Number.isSafeInteger(data6)) && data6 >= -9223372036854775808n && data6 <= 9223372036854775807n)) {
        const err12 = { instancePath: instancePath + "/session_replay.used_cnt", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
      }
    }
  } else {
    const err13 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
  }
  return validate14.errors = vErrors, errors === 0;
}
const work_item = validate15;
function validate15(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.work_item_id === void 0) {
      const err1 = { instancePath, keyword: "required", params: { missingProperty: "work_item_id" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.version === void 0) {
      const err2 = { instancePath, keyword: "required", params: { missingProperty: "version" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    if (data.title === void 0) {
      const err3 = { instancePath, keyword: "required", params: { missingProperty: "title" } };
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
    if (data.work_item_id !== void 0) {
      let data3 = data.work_item_id;
      if (typeof data3 == "string") {
        if (func2(data3) > 128) {
          const err7 = { instancePath: instancePath + "/work_item_id", keyword: "maxLength", params: { limit: 128 } };
          vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
        }
        if (func2(data3) < 1) {
          const err8 = { instancePath: instancePath + "/work_item_id", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
        }
      } else {
        const err9 = { instancePath: instancePath + "/work_item_id", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
      }
    }
    if (data.version !== void 0) {
      let data4 = data.version;
      if (!((typeof data4 == "bigint" || Number.isSafeInteger(data4)) && data4 >= 1 && data4 <= 9223372036854775807n)) {
        const err10 = { instancePath: instancePath + "/version", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
      }
    }
    if (data.title !== void 0 && typeof data.title != "string") {
      const err11 = { instancePath: instancePath + "/title", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
    }
    if (data.deleted_at_ms !== void 0) {
      let data6 = data.deleted_at_ms;
      if (!((typeof data6 == "bigint" || Number.isSafeInteger(data6)) && data6 >= 1e12 && data6 <= 9999999999999n)) {
        const err12 = { instancePath: instancePath + "/deleted_at_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
      }
    }
    if (data.deleted_by !== void 0) {
      let data7 = data.deleted_by;
      if (typeof data7 == "string") {
        if (func2(data7) > 256) {
          const err13 = { instancePath: instancePath + "/deleted_by", keyword: "maxLength", params: { limit: 256 } };
          vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
        }
      } else {
        const err14 = { instancePath: instancePath + "/deleted_by", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
      }
    }
  } else {
    const err15 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err15] : vErrors.push(err15), errors++;
  }
  return validate15.errors = vErrors, errors === 0;
}
const incident = validate16;
const pattern0 = new RegExp("^[0-9a-fA-F]{24}$", "u");
function validate16(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
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
      if (!(key0 === "kind" || key0 === "account_id" || key0 === "at_ms" || key0 === "incident_id" || key0 === "title" || key0 === "owner_id")) {
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
        if (!pattern0.test(data3)) {
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
  } else {
    const err12 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
  }
  return validate16.errors = vErrors, errors === 0;
}
const alert = validate17, schema18 = { type: "object", required: ["account_id"], properties: { kind: { type: "string" }, account_id: { int64: { minimum: 1 } }, at_ms: { int64: { minimum: 1e12, maximum: 9999999999999 } }, alert_id: { type: "string", pattern: "^[0-9a-fA-F]{24}$" }, alert_key: { type: "string", minLength: 1, maxLength: 255 }, title: { type: "string", minLength: 1, maxLength: 512 }, description: { type: "string", maxLength: 4096 }, labels: { type: "object", maxProperties: 64, propertyNames: { type: "string", minLength: 1, maxLength: 128 }, additionalProperties: { type: "string", maxLength: 1024 } }, annotations: { type: "object", maxProperties: 32, propertyNames: { type: "string", minLength: 1, maxLength: 128 }, additionalProperties: { type: "string", maxLength: 2048 } }, source_url: { type: "string", maxLength: 2048, pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^\\u0000-\\u0020\\u007f\\ud800-\\udfff]+$" }, alert_status: { type: "string", enum: ["Critical", "Warning", "Info", "Ok"] }, started_at_ms: { int64: { minimum: 1e12, maximum: 9999999999999 } }, ended_at_ms: { int64: { minimum: 1e12, maximum: 9999999999999 } }, silent_after_s: { type: "integer", minimum: 60, maximum: 2592e3 }, incident_id: { type: "string", pattern: "^[0-9a-fA-F]{24}$" }, incident_at_ms: { int64: { minimum: 1e12, maximum: 9999999999999 } } }, additionalProperties: !1 }, pattern2 = new RegExp("^[Hh][Tt][Tt][Pp][Ss]?://[^\\u0000-\\u0020\\u007f\\ud800-\\udfff]+$", "u");
function validate17(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    for (const key0 in data)
      if (!func4.call(schema18.properties, key0)) {
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
    if (data.at_ms !== void 0) {
      let data2 = data.at_ms;
      if (!((typeof data2 == "bigint" || Number.isSafeInteger(data2)) && data2 >= 1e12 && data2 <= 9999999999999n)) {
        const err4 = { instancePath: instancePath + "/at_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
      }
    }
    if (data.alert_id !== void 0) {
      let data3 = data.alert_id;
      if (typeof data3 == "string") {
        if (!pattern0.test(data3)) {
          const err5 = { instancePath: instancePath + "/alert_id", keyword: "pattern", params: { pattern: "^[0-9a-fA-F]{24}$" } };
          vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
        }
      } else {
        const err6 = { instancePath: instancePath + "/alert_id", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
      }
    }
    if (data.alert_key !== void 0) {
      let data4 = data.alert_key;
      if (typeof data4 == "string") {
        if (func2(data4) > 255) {
          const err7 = { instancePath: instancePath + "/alert_key", keyword: "maxLength", params: { limit: 255 } };
          vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
        }
        if (func2(data4) < 1) {
          const err8 = { instancePath: instancePath + "/alert_key", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
        }
      } else {
        const err9 = { instancePath: instancePath + "/alert_key", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
      }
    }
    if (data.title !== void 0) {
      let data5 = data.title;
      if (typeof data5 == "string") {
        if (func2(data5) > 512) {
          const err10 = { instancePath: instancePath + "/title", keyword: "maxLength", params: { limit: 512 } };
          vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
        }
        if (func2(data5) < 1) {
          const err11 = { instancePath: instancePath + "/title", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
        }
      } else {
        const err12 = { instancePath: instancePath + "/title", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
      }
    }
    if (data.description !== void 0) {
      let data6 = data.description;
      if (typeof data6 == "string") {
        if (func2(data6) > 4096) {
          const err13 = { instancePath: instancePath + "/description", keyword: "maxLength", params: { limit: 4096 } };
          vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
        }
      } else {
        const err14 = { instancePath: instancePath + "/description", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
      }
    }
    if (data.labels !== void 0) {
      let data7 = data.labels;
      if (data7 && typeof data7 == "object" && !Array.isArray(data7)) {
        if (Object.keys(data7).length > 64) {
          const err15 = { instancePath: instancePath + "/labels", keyword: "maxProperties", params: { limit: 64 } };
          vErrors === null ? vErrors = [err15] : vErrors.push(err15), errors++;
        }
        for (const key1 in data7) {
          const _errs16 = errors;
          if (typeof key1 == "string") {
            if (func2(key1) > 128) {
              const err16 = { instancePath: instancePath + "/labels", keyword: "maxLength", params: { limit: 128 }, propertyName: key1 };
              vErrors === null ? vErrors = [err16] : vErrors.push(err16), errors++;
            }
            if (func2(key1) < 1) {
              const err17 = { instancePath: instancePath + "/labels", keyword: "minLength", params: { limit: 1 }, propertyName: key1 };
              vErrors === null ? vErrors = [err17] : vErrors.push(err17), errors++;
            }
          } else {
            const err18 = { instancePath: instancePath + "/labels", keyword: "type", params: { type: "string" }, propertyName: key1 };
            vErrors === null ? vErrors = [err18] : vErrors.push(err18), errors++;
          }
          var valid1 = _errs16 === errors;
          if (!valid1) {
            const err19 = { instancePath: instancePath + "/labels", keyword: "propertyNames", params: { propertyName: key1 } };
            vErrors === null ? vErrors = [err19] : vErrors.push(err19), errors++;
          }
        }
        for (const key2 in data7) {
          let data8 = data7[key2];
          if (typeof data8 == "string") {
            if (func2(data8) > 1024) {
              const err20 = { instancePath: instancePath + "/labels/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"), keyword: "maxLength", params: { limit: 1024 } };
              vErrors === null ? vErrors = [err20] : vErrors.push(err20), errors++;
            }
          } else {
            const err21 = { instancePath: instancePath + "/labels/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"), keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err21] : vErrors.push(err21), errors++;
          }
        }
      } else {
        const err22 = { instancePath: instancePath + "/labels", keyword: "type", params: { type: "object" } };
        vErrors === null ? vErrors = [err22] : vErrors.push(err22), errors++;
      }
    }
    if (data.annotations !== void 0) {
      let data9 = data.annotations;
      if (data9 && typeof data9 == "object" && !Array.isArray(data9)) {
        if (Object.keys(data9).length > 32) {
          const err23 = { instancePath: instancePath + "/annotations", keyword: "maxProperties", params: { limit: 32 } };
          vErrors === null ? vErrors = [err23] : vErrors.push(err23), errors++;
        }
        for (const key3 in data9) {
          const _errs23 = errors;
          if (typeof key3 == "string") {
            if (func2(key3) > 128) {
              const err24 = { instancePath: instancePath + "/annotations", keyword: "maxLength", params: { limit: 128 }, propertyName: key3 };
              vErrors === null ? vErrors = [err24] : vErrors.push(err24), errors++;
            }
            if (func2(key3) < 1) {
              const err25 = { instancePath: instancePath + "/annotations", keyword: "minLength", params: { limit: 1 }, propertyName: key3 };
              vErrors === null ? vErrors = [err25] : vErrors.push(err25), errors++;
            }
          } else {
            const err26 = { instancePath: instancePath + "/annotations", keyword: "type", params: { type: "string" }, propertyName: key3 };
            vErrors === null ? vErrors = [err26] : vErrors.push(err26), errors++;
          }
          var valid3 = _errs23 === errors;
          if (!valid3) {
            const err27 = { instancePath: instancePath + "/annotations", keyword: "propertyNames", params: { propertyName: key3 } };
            vErrors === null ? vErrors = [err27] : vErrors.push(err27), errors++;
          }
        }
        for (const key4 in data9) {
          let data10 = data9[key4];
          if (typeof data10 == "string") {
            if (func2(data10) > 2048) {
              const err28 = { instancePath: instancePath + "/annotations/" + key4.replace(/~/g, "~0").replace(/\//g, "~1"), keyword: "maxLength", params: { limit: 2048 } };
              vErrors === null ? vErrors = [err28] : vErrors.push(err28), errors++;
            }
          } else {
            const err29 = { instancePath: instancePath + "/annotations/" + key4.replace(/~/g, "~0").replace(/\//g, "~1"), keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err29] : vErrors.push(err29), errors++;
          }
        }
      } else {
        const err30 = { instancePath: instancePath + "/annotations", keyword: "type", params: { type: "object" } };
        vErrors === null ? vErrors = [err30] : vErrors.push(err30), errors++;
      }
    }
    if (data.source_url !== void 0) {
      let data11 = data.source_url;
      if (typeof data11 == "string") {
        if (func2(data11) > 2048) {
          const err31 = { instancePath: instancePath + "/source_url", keyword: "maxLength", params: { limit: 2048 } };
          vErrors === null ? vErrors = [err31] : vErrors.push(err31), errors++;
        }
        if (!pattern2.test(data11)) {
          const err32 = { instancePath: instancePath + "/source_url", keyword: "pattern", params: { pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^\\u0000-\\u0020\\u007f\\ud800-\\udfff]+$" } };
          vErrors === null ? vErrors = [err32] : vErrors.push(err32), errors++;
        }
      } else {
        const err33 = { instancePath: instancePath + "/source_url", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err33] : vErrors.push(err33), errors++;
      }
    }
    if (data.alert_status !== void 0) {
      let data12 = data.alert_status;
      if (typeof data12 != "string") {
        const err34 = { instancePath: instancePath + "/alert_status", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err34] : vErrors.push(err34), errors++;
      }
      if (!(data12 === "Critical" || data12 === "Warning" || data12 === "Info" || data12 === "Ok")) {
        const err35 = { instancePath: instancePath + "/alert_status", keyword: "enum", params: { allowedValues: schema18.properties.alert_status.enum } };
        vErrors === null ? vErrors = [err35] : vErrors.push(err35), errors++;
      }
    }
    if (data.started_at_ms !== void 0) {
      let data13 = data.started_at_ms;
      if (!((typeof data13 == "bigint" || Number.isSafeInteger(data13)) && data13 >= 1e12 && data13 <= 9999999999999n)) {
        const err36 = { instancePath: instancePath + "/started_at_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err36] : vErrors.push(err36), errors++;
      }
    }
    if (data.ended_at_ms !== void 0) {
      let data14 = data.ended_at_ms;
      if (!((typeof data14 == "bigint" || Number.isSafeInteger(data14)) && data14 >= 1e12 && data14 <= 9999999999999n)) {
        const err37 = { instancePath: instancePath + "/ended_at_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err37] : vErrors.push(err37), errors++;
      }
    }
    if (data.silent_after_s !== void 0) {
      let data15 = data.silent_after_s;
      if (!(typeof data15 == "number" && !(data15 % 1) && !isNaN(data15) && isFinite(data15))) {
        const err38 = { instancePath: instancePath + "/silent_after_s", keyword: "type", params: { type: "integer" } };
        vErrors === null ? vErrors = [err38] : vErrors.push(err38), errors++;
      }
      if (typeof data15 == "number" && isFinite(data15)) {
        if (data15 > 2592e3 || isNaN(data15)) {
          const err39 = { instancePath: instancePath + "/silent_after_s", keyword: "maximum", params: { comparison: "<=", limit: 2592e3 } };
          vErrors === null ? vErrors = [err39] : vErrors.push(err39), errors++;
        }
        if (data15 < 60 || isNaN(data15)) {
          const err40 = { instancePath: instancePath + "/silent_after_s", keyword: "minimum", params: { comparison: ">=", limit: 60 } };
          vErrors === null ? vErrors = [err40] : vErrors.push(err40), errors++;
        }
      }
    }
    if (data.incident_id !== void 0) {
      let data16 = data.incident_id;
      if (typeof data16 == "string") {
        if (!pattern0.test(data16)) {
          const err41 = { instancePath: instancePath + "/incident_id", keyword: "pattern", params: { pattern: "^[0-9a-fA-F]{24}$" } };
          vErrors === null ? vErrors = [err41] : vErrors.push(err41), errors++;
        }
      } else {
        const err42 = { instancePath: instancePath + "/incident_id", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err42] : vErrors.push(err42), errors++;
      }
    }
    if (data.incident_at_ms !== void 0) {
      let data17 = data.incident_at_ms;
      if (!((typeof data17 == "bigint" || Number.isSafeInteger(data17)) && data17 >= 1e12 && data17 <= 9999999999999n)) {
        const err43 = { instancePath: instancePath + "/incident_at_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err43] : vErrors.push(err43), errors++;
      }
    }
  } else {
    const err44 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err44] : vErrors.push(err44), errors++;
  }
  return validate17.errors = vErrors, errors === 0;
}
const retired_host = validate18, schema19 = { type: "object", required: ["account_id", "host_id", "retired"], properties: { kind: { type: "string" }, account_id: { int64: { minimum: 1 } }, at_ms: { int64: { minimum: 1e12, maximum: 9999999999999 } }, host_id: { type: "string", minLength: 1, maxLength: 256 }, agent_version: { type: "string" }, edge_cluster: { type: "string" }, enabled: { type: "boolean" }, capability_status: { type: "string" }, capture_mode: { type: "string", enum: ["ebpf", "polling"] }, report_interval_ms: { int64: { minimum: 1, maximum: 6048e5 } }, snapshot_ready: { type: "boolean" }, reason_codes: { type: "array", items: { type: "string" }, maxItems: 128 }, retired: { const: !0 } }, additionalProperties: !1 };
function validate18(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.account_id === void 0) {
      const err0 = { instancePath, keyword: "required", params: { missingProperty: "account_id" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (data.host_id === void 0) {
      const err1 = { instancePath, keyword: "required", params: { missingProperty: "host_id" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (data.retired === void 0) {
      const err2 = { instancePath, keyword: "required", params: { missingProperty: "retired" } };
      vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
    }
    for (const key0 in data)
      if (!func4.call(schema19.properties, key0)) {
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
    if (data.host_id !== void 0) {
      let data3 = data.host_id;
      if (typeof data3 == "string") {
        if (func2(data3) > 256) {
          const err7 = { instancePath: instancePath + "/host_id", keyword: "maxLength", params: { limit: 256 } };
          vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
        }
        if (func2(data3) < 1) {
          const err8 = { instancePath: instancePath + "/host_id", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
        }
      } else {
        const err9 = { instancePath: instancePath + "/host_id", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
      }
    }
    if (data.agent_version !== void 0 && typeof data.agent_version != "string") {
      const err10 = { instancePath: instancePath + "/agent_version", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
    }
    if (data.edge_cluster !== void 0 && typeof data.edge_cluster != "string") {
      const err11 = { instancePath: instancePath + "/edge_cluster", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
    }
    if (data.enabled !== void 0 && typeof data.enabled != "boolean") {
      const err12 = { instancePath: instancePath + "/enabled", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
    }
    if (data.capability_status !== void 0 && typeof data.capability_status != "string") {
      const err13 = { instancePath: instancePath + "/capability_status", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
    }
    if (data.capture_mode !== void 0) {
      let data8 = data.capture_mode;
      if (typeof data8 != "string") {
        const err14 = { instancePath: instancePath + "/capture_mode", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
      }
      if (!(data8 === "ebpf" || data8 === "polling")) {
        const err15 = { instancePath: instancePath + "/capture_mode", keyword: "enum", params: { allowedValues: schema19.properties.capture_mode.enum } };
        vErrors === null ? vErrors = [err15] : vErrors.push(err15), errors++;
      }
    }
    if (data.report_interval_ms !== void 0) {
      let data9 = data.report_interval_ms;
      if (!((typeof data9 == "bigint" || Number.isSafeInteger(data9)) && data9 >= 1 && data9 <= 604800000n)) {
        const err16 = { instancePath: instancePath + "/report_interval_ms", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err16] : vErrors.push(err16), errors++;
      }
    }
    if (data.snapshot_ready !== void 0 && typeof data.snapshot_ready != "boolean") {
      const err17 = { instancePath: instancePath + "/snapshot_ready", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err17] : vErrors.push(err17), errors++;
    }
    if (data.reason_codes !== void 0) {
      let data11 = data.reason_codes;
      if (Array.isArray(data11)) {
        if (data11.length > 128) {
          const err18 = { instancePath: instancePath + "/reason_codes", keyword: "maxItems", params: { limit: 128 } };
          vErrors === null ? vErrors = [err18] : vErrors.push(err18), errors++;
        }
        const len0 = data11.length;
        for (let i0 = 0; i0 < len0; i0++)
          if (typeof data11[i0] != "string") {
            const err19 = { instancePath: instancePath + "/reason_codes/" + i0, keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err19] : vErrors.push(err19), errors++;
          }
      } else {
        const err20 = { instancePath: instancePath + "/reason_codes", keyword: "type", params: { type: "array" } };
        vErrors === null ? vErrors = [err20] : vErrors.push(err20), errors++;
      }
    }
    if (data.retired !== void 0 && data.retired !== !0) {
      const err21 = { instancePath: instancePath + "/retired", keyword: "const", params: { allowedValue: !0 } };
      vErrors === null ? vErrors = [err21] : vErrors.push(err21), errors++;
    }
  } else {
    const err22 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err22] : vErrors.push(err22), errors++;
  }
  return validate18.errors = vErrors, errors === 0;
}
export {
  alert,
  host,
  host_status,
  incident,
  member,
  retired_host,
  rum_resource,
  rum_usage,
  work_item
};
