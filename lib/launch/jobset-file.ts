import { PROCESS_EXIT } from "../fleet/environment.ts";
import { expectName, type Job, type JobFile, quoted } from "./job.ts";

export interface JobSetOptions {
  /** Image with Node, Hone and the recipe. */
  readonly image: string;
  /** A volume that every node mounts (ReadWriteMany): the run folder, weights in transfer, the store. */
  readonly claim: string;
  /** Mount path of the volume. */
  readonly mount: string;
  /** Queue of Kueue, which admits all nodes or none. */
  readonly queue?: string;
  readonly storeImage?: string;
}

const STORE_PORT = 6379;
// the command has different names in the images of Valkey and of Redis
const SERVER = `exec "$(command -v valkey-server || command -v redis-server)" --dir "$STORE_DIR" --appendonly yes --maxmemory-policy noeviction --requirepass "$HONE_REDIS_PASSWORD"`;

/** A YAML scalar: JSON strings are YAML strings. */
const text = (value: string): string => JSON.stringify(value);
const list = (values: readonly string[]): string => `[${values.map(text).join(", ")}]`;

/**
 * A JobSet (jobset.x-k8s.io/v1alpha2): an Indexed Job with one pod per node, and a Redis server unless an address is
 * given. Throws HONE_ERR_USAGE for a name that Kubernetes would refuse.
 */
export function jobSetFile(job: Job, options: JobSetOptions): JobFile {
  expectName(job.name);
  const own = job.store === undefined;
  const secret = `kubectl create secret generic ${job.name}-store --from-literal=password="$(openssl rand -hex 24)"`;
  return {
    text: `${head(job, options)}${own ? storeJob(job, options) : ""}${nodeJob(job, options)}`,
    submit: (path) => [...(own ? [secret] : []), `kubectl apply -f ${quoted(path)}`],
  };
}

function head({ name, maxRestarts }: Job, { queue }: JobSetOptions): string {
  const labels =
    queue === undefined
      ? ""
      : `\n  labels:\n    # all nodes or none\n    kueue.x-k8s.io/queue-name: ${text(queue)}`;
  return `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: ${text(name)}${labels}
spec:
  # the store never ends by itself
  successPolicy: {operator: All, targetReplicatedJobs: [node]}
  failurePolicy:
    # an agent that ends with ${PROCESS_EXIT.restart} has saved, or lost its node: all pods are made again and go on from the last checkpoint
    maxRestarts: ${maxRestarts}
    # only when the old pods are gone, so that no two of a rank live at once
    restartStrategy: BlockingRecreate
    rules:
    # an agent that ends with ${PROCESS_EXIT.config} would end so again
    - {name: configError, action: FailJobSet, targetReplicatedJobs: [node], onJobFailureReasons: [PodFailurePolicy]}
  # pods find each other by name
  network: {enableDNSHostnames: true, subdomain: ${text(name)}}
  replicatedJobs:
`;
}

function storeJob({ name }: Job, { storeImage = "valkey/valkey:8", claim, mount }: JobSetOptions): string {
  return `  - name: store
    replicas: 1
    template:
      spec:
        completions: 1
        parallelism: 1
        template:
          spec:
            # a server that ends comes back with its file
            restartPolicy: OnFailure
            containers:
            - name: store
              image: ${text(storeImage)}
              command: ${list(["sh", "-c", `mkdir -p "$STORE_DIR" && ${SERVER}`])}
              env:
              - {name: STORE_DIR, value: ${text(`${mount}/${name}-store`)}}
              - {name: HONE_REDIS_PASSWORD, valueFrom: {secretKeyRef: {name: ${text(`${name}-store`)}, key: password}}}
              ports: [{containerPort: ${STORE_PORT}}]
              volumeMounts: [{name: shared, mountPath: ${text(mount)}}]
            volumes: [{name: shared, persistentVolumeClaim: {claimName: ${text(claim)}}}]
`;
}

function nodeJob(job: Job, { image, claim, mount }: JobSetOptions): string {
  const { name, nodes, gpusPerNode, graceSeconds, store } = job;
  const address = store ?? `redis://${name}-store-0-0.${name}:${STORE_PORT}`;
  const password = `              - {name: HONE_REDIS_PASSWORD, valueFrom: {secretKeyRef: {name: ${text(`${name}-store`)}, key: password}}}\n`;
  const gpus = `              resources: {limits: {nvidia.com/gpu: ${gpusPerNode}}}\n`;
  return `  - name: node
    replicas: 1${store === undefined ? "\n    dependsOn: [{name: store, status: Ready}]" : ""}
    template:
      spec:
        # each pod is told its index, JOB_COMPLETION_INDEX
        completionMode: Indexed
        completions: ${nodes}
        parallelism: ${nodes}
        # a pod that fails is not made again alone: the set is
        backoffLimit: 0
        podFailurePolicy:
          rules:
          - {action: FailJob, onExitCodes: {operator: In, values: [${PROCESS_EXIT.config}]}}
          # drained or preempted: a new pod takes its index, and its agent joins the run
          - {action: Ignore, onPodConditions: [{type: DisruptionTarget, status: "True"}]}
        template:
          spec:
            restartPolicy: Never
            # between SIGTERM and SIGKILL, for saving
            terminationGracePeriodSeconds: ${graceSeconds}
            containers:
            - name: agent
              image: ${text(image)}
              # no shell before it, which would keep SIGTERM to itself
              command: ${list([...job.hone, "agent", ...job.agent])}
${gpusPerNode > 0 ? gpus : ""}              env:
              - {name: HONE_RUN_ID, value: ${text(name)}}
              - {name: HONE_STORE, value: ${text(address)}}
${store === undefined ? password : ""}              # an Indexed Job does not tell its pods how many they are
              - {name: HONE_NODES, value: "${nodes}"}
              - {name: HONE_RESTARTS, valueFrom: {fieldRef: {fieldPath: "metadata.labels['jobset.sigs.k8s.io/restart-attempt']"}}}
              # of the Job, which is another after each restart of the set
              - {name: HONE_LAUNCH, valueFrom: {fieldRef: {fieldPath: "metadata.labels['batch.kubernetes.io/controller-uid']"}}}
              - {name: MASTER_ADDR, value: ${text(`${name}-node-0-0.${name}`)}}
              volumeMounts:
              - {name: shared, mountPath: ${text(mount)}}
              # trainers of one node talk through memory; Docker's default is 64 MiB
              - {name: memory, mountPath: /dev/shm}
            volumes:
            - {name: shared, persistentVolumeClaim: {claimName: ${text(claim)}}}
            - {name: memory, emptyDir: {medium: Memory}}
`;
}
