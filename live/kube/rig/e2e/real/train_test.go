package real

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig/e2e"
	"github.com/oxgang/oxgang/live/kube/rig/node"
)

// agents is the service of the agent API, as the guide and the chart name it.
const agents = "oxgang-agents.oxgang-system.svc"

// interpreter returns a Python that has torch, or why nothing is to train.
func interpreter() (path, why string) {
	if os.Getenv("OXGANG_LONG") == "" {
		return "", "real programs train for five minutes: OXGANG_LONG=1 OXGANG_PYTHON=.../python go test -run TestReal/a_training ./e2e/real. " +
			"Two cores with a load of 20: one was preempted after 12 s and went on 10 s later on 3 workers of two nodes, its losses off by 2e-4 at most; " +
			"of one whose kubelet was killed, and then its node, both losses were found after 41 s, and it was complete in its third generation, as near"
	}
	path = os.Getenv("OXGANG_PYTHON")
	if path == "" {
		return "", "no program trains: OXGANG_PYTHON is not set, want an interpreter that has torch"
	}
	if out, err := exec.Command(path, "-c", "import torch").CombinedOutput(); err != nil {
		return "", fmt.Sprintf("no program trains: OXGANG_PYTHON=%s has no torch: %s", path, out)
	}
	return path, ""
}

// train makes a Job that trains on so many workers, and begins to train on this machine beside
// it, while others wait. It skips the test if nothing can train here.
func (b *bench) train(name string, workers int, pace string) {
	b.Helper()
	if b.python == "" {
		b.Skip(b.pythonless)
	}
	b.queue(v1alpha1.Resize, "srtf")
	b.create(b.training(name, workers, pace))
	go func() { _, _ = b.whole() }() // which trained asks for
}

// serve makes the service of the agent API lead to the scheduler, and one for the workers.
func (b *bench) serve() {
	b.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "oxgang-system"}})
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "oxgang-agents", Namespace: "oxgang-system"}}
	service.Spec = corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{{Name: "agents", Port: 8443}}}
	b.create(service)
	name, port := "agents", int32(8443)
	b.create(&discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: "oxgang-agents", Namespace: "oxgang-system", Labels: map[string]string{discoveryv1.LabelServiceName: "oxgang-agents"}},
		AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: &name, Port: &port}},
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{node.Gateway}}},
	})
	b.create(&corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "workers", Namespace: "default"},
		Spec:       corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, PublishNotReadyAddresses: true, Selector: map[string]string{"trains": "true"}},
	})
}

// guide returns the pod of docs/guide/kubernetes-agents.md: what its examples say, together.
func (b *bench) guide() *corev1.PodSpec {
	text, err := os.ReadFile(filepath.Join(e2e.Root, "docs", "guide", "kubernetes-agents.md"))
	if err != nil {
		b.Fatal(err)
	}
	var all struct {
		Spec corev1.PodSpec `json:"spec"`
	}
	examples := strings.Split(string(text), "```yaml\n")[1:]
	if len(examples) != 2 {
		b.Fatalf("%d examples in the guide, want those of the agent and of the ranks", len(examples))
	}
	var env []corev1.EnvVar
	for _, e := range examples {
		e, _, _ = strings.Cut(e, "```")
		if err := yaml.NewYAMLOrJSONDecoder(bytes.NewBufferString(e), 4096).Decode(&all); err != nil {
			b.Fatal(err)
		}
		env = append(env, all.Spec.Containers[0].Env...)
		all.Spec.Containers[0].Env = nil
	}
	all.Spec.Containers[0].Env = env
	return &all.Spec
}

// interval is how many steps a training makes from one checkpoint to the next.
const interval = 8

// network is what is trained: 6 epochs of 16 steps, of one global batch at every size.
var network = []string{"cnn", "--epochs", "6", "--samples", "1024", "--width", "8", "--batch-size", "64"}

// program returns the command that trains, writes down what it does, and waits pace for each
// sample of a worker: an accelerator would not use the processors of this machine either.
func (b *bench) program(record, pace string, more ...string) []string {
	script := filepath.Join(e2e.Root, "python", "tests", "live_train.py")
	return slices.Concat([]string{b.python, script}, network, []string{"--record", record, "--pace", pace}, more)
}

// records returns the directory to which a training writes down what it does.
func (b *bench) records(name string) string { return filepath.Join(b.shared, "records", name) }

// training returns a Job that trains on so many workers of 4 GPUs: the guide's pod, with a
// program. Its checkpoints are on a directory that all nodes have.
func (b *bench) training(name string, workers int, pace string) *batchv1.Job {
	j := e2e.Job(name, "train", workers, 4, map[string]string{v1alpha1.Checkpoints: "true"})
	j.Spec.Template.Labels = map[string]string{"trains": "true"}
	limits := j.Spec.Template.Spec.Containers[0].Resources
	pod := b.guide()
	pod.RestartPolicy = corev1.RestartPolicyNever
	c := &pod.Containers[0]
	c.Image, c.Resources = node.Host, limits
	c.Command = b.program(b.records(name), pace, "--checkpoint-steps", strconv.Itoa(interval))
	for i := range c.Env {
		if c.Env[i].Name == "MASTER_ADDR" {
			c.Env[i].Value = name + "-0.workers"
		}
	}
	code := filepath.Join(e2e.Root, "python")
	c.Env = append(c.Env, corev1.EnvVar{Name: "PYTHONPATH", Value: code}, corev1.EnvVar{Name: "OMP_NUM_THREADS", Value: "1"},
		corev1.EnvVar{Name: "OXGANG_CHECKPOINTS", Value: filepath.Join(b.shared, "checkpoints", name)})
	volumes, mounts := node.HostVolumes(append(prefixes(b, c.Command[0]), code)...)
	pod.Volumes = append(append(pod.Volumes, volumes...), corev1.Volume{
		Name: "shared", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: b.shared}},
	})
	c.VolumeMounts = append(append(c.VolumeMounts, mounts...), corev1.VolumeMount{Name: "shared", MountPath: b.shared})
	j.Spec.Template.Spec = *pod
	return j
}

// uninterrupted returns the training as nobody interrupts it, in one process of this machine,
// with seeds 0 to 4.
func (b *bench) uninterrupted() ([]run, error) {
	seeds := make([]run, 5)
	for i := range seeds {
		dir := b.records("seed-" + strconv.Itoa(i))
		cmd := exec.CommandContext(b.Context(), "nice", b.program(dir, "0", "--seed", strconv.Itoa(i))...)
		cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(e2e.Root, "python"), "OMP_NUM_THREADS=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("seed %d: %w: %s", i, err, out)
		}
		all, err := recorded(dir)
		if err != nil {
			return nil, err
		}
		if len(all) != 1 || all[0].final == nil {
			return nil, fmt.Errorf("seed %d: %d runs, want one to its end", i, len(all))
		}
		seeds[i] = all[0]
	}
	return seeds, nil
}

// prefixes returns the directories that an interpreter consists of.
func prefixes(b *bench, python string) []string {
	out, err := exec.Command(python, "-c", "import sys; print(sys.prefix); print(sys.base_prefix)").Output()
	if err != nil {
		b.Fatal(err)
	}
	var all []string
	for dir := range strings.FieldsSeq(string(out)) {
		if dir != "/usr" && (len(all) == 0 || all[0] != dir) {
			all = append(all, dir)
		}
	}
	return all
}

// past waits until a generation of a training has begun some steps, and returns which one it is
// at.
func (b *bench) past(name string, generation, steps int) (step int) {
	b.Helper()
	b.until(fmt.Sprintf("generation %d of %s trains", generation, name), func() error {
		all, err := recorded(b.records(name))
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(all, func(r run) bool { return r.generation >= generation }); i >= 0 && len(all[i].steps) >= steps {
			step = slices.Max(slices.Collect(maps.Keys(all[i].steps)))
			return nil
		}
		a, err := b.allocation(name)
		if err != nil {
			return err
		}
		return fmt.Errorf("%d generations have trained; the plan has generation %d on %d GPUs: %s", len(all), a.Generation, a.GPUs, a.Reason)
	})
	return step
}

// trained waits until a training is complete, and compares what it did with one that nobody
// interrupted: it was stopped as often as again has elements, and did no step twice but so many
// after each stop. It returns the generations that trained.
func (b *bench) trained(name string, again ...int) []run {
	b.Helper()
	b.until(name+" is complete", func() error { return b.has("job", name, string(batchv1.JobComplete), "") })
	all, err := recorded(b.records(name))
	if err != nil {
		b.Fatal(err)
	}
	seeds, err := b.whole()
	if err != nil {
		b.Fatal(err)
	}
	if err := follows(all, &seeds[0], again...); err != nil {
		b.Fatalf("%s: %v", name, err)
	}
	for i := range all {
		first, end, _ := all[i].span(&seeds[0]) // it was asked before
		b.Logf("%s: generation %d trained steps %d to %d on %d workers", name, all[i].generation, first, end-1, all[i].workers)
	}
	most, err := strays(all, seeds)
	if err != nil {
		b.Errorf("%s: %v", name, err)
	}
	b.Logf("%s: losses are off those of the uninterrupted training by %.2g at most", name, most)
	return all
}

// trains: a program that trains on two workers, and reports over TLS with its pod's token, is
// preempted, saves a checkpoint when asked to stop, and goes on from there on three, for which
// it takes both nodes.
func (b *bench) trains() {
	b.train("curve", 2, "0.008")
	b.apply("kueue.yaml", "QUOTA", "32")
	b.past("curve", 1, 4)
	b.rival("rival")
	b.until("rival runs in its place", func() error { return b.asPlanned("rival", 4) })
	size := []byte(`{"spec":{"parallelism":3,"completions":3}}`)
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "curve", Namespace: "default"}}
	if err := b.k.Patch(b.Context(), j, client.RawPatch(types.MergePatchType, size)); err != nil {
		b.Fatal(err)
	}
	if err := b.spoke("curve"); err != nil {
		b.Error(err)
	}
	b.end("rival")
	b.past("curve", 2, 1)
	if err := b.asPlanned("curve", 4); err != nil {
		b.Error(err)
	}
	if all := b.trained("curve", 0); all[0].workers != 2 || all[1].workers != 3 {
		b.Errorf("trained on %d workers, then on %d, want 2 and 3", all[0].workers, all[1].workers)
	}
}

// spoke returns nothing if the scheduler has kept what a job's program said of itself.
func (b *bench) spoke(name string) error {
	a, err := b.allocation(name)
	if err != nil {
		return err
	}
	var p v1alpha1.Plan
	if err := b.k.Get(b.Context(), client.ObjectKey{Name: "train"}, &p); err != nil {
		return err
	}
	for _, s := range p.Status.Jobs {
		if s.UID == a.UID && strings.Contains(s.Hello, `"world_size":2`) {
			return nil
		}
	}
	return fmt.Errorf("%+v, want what %s said of itself on two workers", p.Status.Jobs, name)
}

// recovers: a kubelet is killed while its containers train on. When it is back, the training has
// saved its state and goes on from there. Then its node dies with all that runs on it; fenced,
// the training goes on at the other one from its last checkpoint.
func (b *bench) recovers() {
	b.train("lucky", 2, "0.03")
	b.past("lucky", 1, 4)
	n := b.on("lucky")
	if err := n.Kubelet().Kill(); err != nil {
		b.Fatal(err)
	}
	b.until("lucky is suspended", func() error { return b.suspended("lucky") })
	pods, err := b.pods("lucky")
	if err != nil || slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Labels[v1alpha1.Generation] != "1" }) {
		b.Errorf("%d pods, %v, want none but those that may run yet", len(pods), err)
	}
	if err := n.Kubelet().Start(); err != nil {
		b.Fatal(err)
	}
	b.past("lucky", 2, 2)
	n = b.on("lucky")
	if err := n.Crash(); err != nil {
		b.Fatal(err)
	}
	b.until("lucky is suspended again", func() error { return b.suspended("lucky") })
	if err := n.Fence(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.trained("lucky", 0, interval+1)
}

// on returns the node of a job's first pod.
func (b *bench) on(name string) *node.Node {
	b.Helper()
	pods, err := b.pods(name)
	if err != nil || len(pods) == 0 {
		b.Fatalf("%d pods of %s, %v", len(pods), name, err)
	}
	i := slices.IndexFunc(b.Nodes, func(n *node.Node) bool { return n.Name == pods[0].Spec.NodeName })
	if i < 0 {
		b.Fatalf("pod %s is on %q, want a real node", pods[0].Name, pods[0].Spec.NodeName)
	}
	return b.Nodes[i]
}

// suspended returns nothing if a Job is.
func (b *bench) suspended(name string) error {
	o, err := b.object("job", name)
	if err != nil {
		return err
	}
	if spec, _ := o.Object["spec"].(map[string]any); spec["suspend"] != true {
		return fmt.Errorf("suspend %v", spec["suspend"])
	}
	return nil
}
