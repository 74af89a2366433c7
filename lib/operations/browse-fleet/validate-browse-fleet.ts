// Generated from schema.ts by `npm run generate`: do not edit.
// @ts-nocheck
const validate = validate10;
var stdin_default = validate10;
const schema11 = { type: "object", properties: { cursor: { type: "string" }, limit: { type: "integer", minimum: 1, maximum: 100, default: 50 }, scan_limit: { type: "integer", minimum: 1, maximum: 2e3, default: 1e3 }, statuses: { type: "array", maxItems: 20, items: { type: "string", enum: ["active", "degraded", "stale", "initializing", "disabled", "unsupported", "no_data"] } }, agent_versions: { type: "array", maxItems: 20, items: { type: "string" } }, edge_clusters: { type: "array", maxItems: 20, items: { type: "string" } }, capture_modes: { type: "array", maxItems: 3, items: { type: "string", enum: ["ebpf", "polling", "unknown"] } } } };
function validate10(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.limit === void 0 && (data.limit = 50), data.scan_limit === void 0 && (data.scan_limit = 1e3), data.cursor !== void 0 && typeof data.cursor != "string") {
      const err0 = { instancePath: instancePath + "/cursor", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    let data1 = data.limit;
    if (!(typeof data1 == "number" && !(data1 % 1) && !isNaN(data1) && isFinite(data1))) {
      const err1 = { instancePath: instancePath + "/limit", keyword: "type", params: { type: "integer" } };
      vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
    }
    if (typeof data1 == "number" && isFinite(data1)) {
      if (data1 > 100 || isNaN(data1)) {
        const err2 = { instancePath: instancePath + "/limit", keyword: "maximum", params: { comparison: "<=", limit: 100 } };
        vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
      }
      if (data1 < 1 || isNaN(data1)) {
        const err3 = { instancePath: instancePath + "/limit", keyword: "minimum", params: { comparison: ">=", limit: 1 } };
        vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
      }
    }
    let data2 = data.scan_limit;
    if (!(typeof data2 == "number" && !(data2 % 1) && !isNaN(data2) && isFinite(data2))) {
      const err4 = { instancePath: instancePath + "/scan_limit", keyword: "type", params: { type: "integer" } };
      vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
    }
    if (typeof data2 == "number" && isFinite(data2)) {
      if (data2 > 2e3 || isNaN(data2)) {
        const err5 = { instancePath: instancePath + "/scan_limit", keyword: "maximum", params: { comparison: "<=", limit: 2e3 } };
        vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
      }
      if (data2 < 1 || isNaN(data2)) {
        const err6 = { instancePath: instancePath + "/scan_limit", keyword: "minimum", params: { comparison: ">=", limit: 1 } };
        vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
      }
    }
    if (data.statuses !== void 0) {
      let data3 = data.statuses;
      if (Array.isArray(data3)) {
        if (data3.length > 20) {
          const err7 = { instancePath: instancePath + "/statuses", keyword: "maxItems", params: { limit: 20 } };
          vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
        }
        const len0 = data3.length;
        for (let i0 = 0; i0 < len0; i0++) {
          let data4 = data3[i0];
          if (typeof data4 != "string") {
            const err8 = { instancePath: instancePath + "/statuses/" + i0, keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
          }
          if (!(data4 === "active" || data4 === "degraded" || data4 === "stale" || data4 === "initializing" || data4 === "disabled" || data4 === "unsupported" || data4 === "no_data")) {
            const err9 = { instancePath: instancePath + "/statuses/" + i0, keyword: "enum", params: { allowedValues: schema11.properties.statuses.items.enum } };
            vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
          }
        }
      } else {
        const err10 = { instancePath: instancePath + "/statuses", keyword: "type", params: { type: "array" } };
        vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
      }
    }
    if (data.agent_versions !== void 0) {
      let data5 = data.agent_versions;
      if (Array.isArray(data5)) {
        if (data5.length > 20) {
          const err11 = { instancePath: instancePath + "/agent_versions", keyword: "maxItems", params: { limit: 20 } };
          vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
        }
        const len1 = data5.length;
        for (let i1 = 0; i1 < len1; i1++)
          if (typeof data5[i1] != "string") {
            const err12 = { instancePath: instancePath + "/agent_versions/" + i1, keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
          }
      } else {
        const err13 = { instancePath: instancePath + "/agent_versions", keyword: "type", params: { type: "array" } };
        vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
      }
    }
    if (data.edge_clusters !== void 0) {
      let data7 = data.edge_clusters;
      if (Array.isArray(data7)) {
        if (data7.length > 20) {
          const err14 = { instancePath: instancePath + "/edge_clusters", keyword: "maxItems", params: { limit: 20 } };
          vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
        }
        const len2 = data7.length;
        for (let i2 = 0; i2 < len2; i2++)
          if (typeof data7[i2] != "string") {
            const err15 = { instancePath: instancePath + "/edge_clusters/" + i2, keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err15] : vErrors.push(err15), errors++;
          }
      } else {
        const err16 = { instancePath: instancePath + "/edge_clusters", keyword: "type", params: { type: "array" } };
        vErrors === null ? vErrors = [err16] : vErrors.push(err16), errors++;
      }
    }
    if (data.capture_modes !== void 0) {
      let data9 = data.capture_modes;
      if (Array.isArray(data9)) {
        if (data9.length > 3) {
          const err17 = { instancePath: instancePath + "/capture_modes", keyword: "maxItems", params: { limit: 3 } };
          vErrors === null ? vErrors = [err17] : vErrors.push(err17), errors++;
        }
        const len3 = data9.length;
        for (let i3 = 0; i3 < len3; i3++) {
          let data10 = data9[i3];
          if (typeof data10 != "string") {
            const err18 = { instancePath: instancePath + "/capture_modes/" + i3, keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err18] : vErrors.push(err18), errors++;
          }
          if (!(data10 === "ebpf" || data10 === "polling" || data10 === "unknown")) {
            const err19 = { instancePath: instancePath + "/capture_modes/" + i3, keyword: "enum", params: { allowedValues: schema11.properties.capture_modes.items.enum } };
            vErrors === null ? vErrors = [err19] : vErrors.push(err19), errors++;
          }
        }
      } else {
        const err20 = { instancePath: instancePath + "/capture_modes", keyword: "type", params: { type: "array" } };
        vErrors === null ? vErrors = [err20] : vErrors.push(err20), errors++;
      }
    }
  } else {
    const err21 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err21] : vErrors.push(err21), errors++;
  }
  return validate10.errors = vErrors, errors === 0;
}
export {
  stdin_default as default,
  validate
};
