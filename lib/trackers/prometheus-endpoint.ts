import { MetricsEndpoint, type MetricsEndpointOptions, prometheusText, type Sink } from "../metrics/index.ts";
import type { StepRecord } from "../records.ts";

export interface EndpointOptions extends Pick<MetricsEndpointOptions, "host" | "port" | "warn"> {
  readonly labels: Readonly<Record<string, string>>;
}

/** Serves the last step to Prometheus until it is closed. */
export class PrometheusEndpoint implements Sink {
  readonly name = "prometheus-endpoint";
  readonly #endpoint: MetricsEndpoint;
  readonly #labels: EndpointOptions["labels"];
  #text = "";

  constructor({ labels, ...options }: EndpointOptions) {
    this.#labels = labels;
    this.#endpoint = new MetricsEndpoint({ ...options, text: () => this.#text });
  }

  /** Address at which metrics are served; undefined if the endpoint cannot listen. */
  get address(): Promise<string | undefined> {
    return this.#endpoint.address;
  }

  write(record: StepRecord): void {
    this.#text = prometheusText(record, this.#labels);
  }

  close(): void {
    this.#endpoint.close();
  }
}
