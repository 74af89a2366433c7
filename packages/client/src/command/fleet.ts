import { parseArgs } from 'node:util';
import { type BrowseFleetRequest, explainStatus } from '../index.ts';
import { jsonText } from '../json.ts';
import { connect } from './connect.ts';
import { asUsageError, COMMON, print, text, texts } from './output.ts';

export const FLEET_HELP = `  fleet                        list the hosts, each with its status and why
    --status S, --agent-version V, --edge-cluster C, --capture-mode M
                               only these; each may be repeated, up to 20 times (capture mode: 3)
    --cursor C                 resume a listing that failed
`;

const OPTIONS = {
  ...{ status: texts, 'agent-version': texts, 'edge-cluster': texts, 'capture-mode': texts, cursor: text },
  ...COMMON,
};

export async function fleet(args: string[]): Promise<void> {
  const { values } = asUsageError(() => parseArgs({ args, options: OPTIONS }));
  const request = {
    ...(values.status && { statuses: values.status }),
    ...(values['agent-version'] && { agent_versions: values['agent-version'] }),
    ...(values['edge-cluster'] && { edge_clusters: values['edge-cluster'] }),
    ...(values['capture-mode'] && { capture_modes: values['capture-mode'] }),
    ...(values.cursor !== undefined && { cursor: values.cursor }),
  } as BrowseFleetRequest; // the service checks the values
  for await (const host of connect().hosts(request)) {
    const why = explainStatus(host);
    if (values.json) print(jsonText({ ...host, why }));
    else print(`${host.host_id.padEnd(24)}  ${host.servicemap.status.padEnd(12)}  ${why}`);
  }
}
