package trace

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

type kubeKind struct {
	kind, group string
	add         func(*kubeDump, *kubeObject) error
	shape       func(json.RawMessage) (*shape, error) // of a job's spec; nil: not a job
}

var kubeKinds = []kubeKind{
	{"Pod", "", (*kubeDump).addPod, nil},
	{"Node", "", (*kubeDump).addNode, nil},
	{"Workload", "kueue.x-k8s.io", (*kubeDump).addWorkload, nil},
	{"ClusterQueue", "kueue.x-k8s.io", (*kubeDump).addClusterQueue, nil},
	{"LocalQueue", "kueue.x-k8s.io", (*kubeDump).addLocalQueue, nil},
	{"ResourceFlavor", "kueue.x-k8s.io", (*kubeDump).addFlavor, nil},
	{"Job", "batch", nil, jobShape},
	{"JobSet", "jobset.x-k8s.io", nil, jobSetShape},
	{"TrainJob", "trainer.kubeflow.org", nil, trainJobShape},
	{"RayJob", "ray.io", nil, rayJobShape},
	{"RayCluster", "ray.io", nil, rayClusterShape},
	{"Job", "batch.volcano.sh", nil, volcanoShape},
	{"PyTorchJob", "kubeflow.org", nil, replicasShape},
	{"TFJob", "kubeflow.org", nil, replicasShape},
	{"JAXJob", "kubeflow.org", nil, replicasShape},
	{"MPIJob", "kubeflow.org", nil, replicasShape},
	{"XGBoostJob", "kubeflow.org", nil, replicasShape},
	{"PaddleJob", "kubeflow.org", nil, replicasShape},
	{"LeaderWorkerSet", "leaderworkerset.x-k8s.io", nil, leaderWorkerShape},
}

func kindOf(api, kind string) *kubeKind {
	group, _, ok := strings.Cut(api, "/")
	if !ok {
		group = ""
	}
	for i := range kubeKinds {
		if k := &kubeKinds[i]; k.kind == kind && (api == "" || k.group == group) {
			return k
		}
	}
	return nil
}

func shapeOf(o *kubeObject) (*shape, error) {
	s, err := kindOf(o.API, o.Kind).shape(o.Spec)
	if err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	return s, s.check()
}

func (s *shape) check() error {
	switch {
	case s.gpus > parse.MaxCount:
		return fmt.Errorf("more than %d GPUs, want at most that", parse.MaxCount)
	case s.cpus > parse.MaxCount || s.memory > 1<<60:
		return fmt.Errorf("%g cores and %g bytes of memory, want at most %d and 2^60", s.cpus, s.memory, parse.MaxCount)
	}
	return nil
}

var kubeName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9./-]{0,79}$`)

const maxKinds = 20

func (d *kubeDump) ignore(o *kubeObject) {
	group, _, ok := strings.Cut(o.API, "/")
	name := o.Kind
	if ok {
		name = group + "/" + name
	}
	if !kubeName.MatchString(name) || len(d.ignored) >= maxKinds && !d.ignored[name] {
		name = "other"
	}
	d.ignored[name] = true
	if hasGPUs(o.Spec, 0) {
		d.o.Summary.Note("objects of kind " + name + " with GPUs, not supported and ignored")
	} else {
		d.o.Summary.Note(parse.Ignored + name)
	}
}

func hasGPUs(text json.RawMessage, depth int) bool {
	const deepest = 16
	if depth > deepest || !strings.Contains(string(text), "gpu") {
		return false
	}
	var p podSpec
	if json.Unmarshal(text, &p) == nil && p.gpus() > 0 {
		return true
	}
	var fields map[string]json.RawMessage
	var items []json.RawMessage
	if json.Unmarshal(text, &fields) != nil && json.Unmarshal(text, &items) != nil {
		return false
	}
	for _, f := range fields {
		items = append(items, f)
	}
	for _, f := range items {
		if hasGPUs(f, depth+1) {
			return true
		}
	}
	return false
}

func jobShape(text json.RawMessage) (*shape, error) {
	var j jobSpec
	err := exactly(text, &j)
	s := new(shape)
	s.add(j.pods(), &j.Template)
	return s, err
}

type replicas struct {
	Replicas *int        `json:"replicas"`
	Template podTemplate `json:"template"`
}

func volcanoShape(text json.RawMessage) (*shape, error) {
	var v struct {
		Tasks []replicas `json:"tasks"`
	}
	err := exactly(text, &v)
	s := new(shape)
	for i := range v.Tasks {
		s.add(or(v.Tasks[i].Replicas, 1), &v.Tasks[i].Template)
	}
	return s, err
}

func replicasShape(text json.RawMessage) (*shape, error) {
	var spec map[string]json.RawMessage
	if err := exactly(text, &spec); err != nil {
		return nil, err
	}
	s := new(shape)
	for key, value := range spec {
		if !strings.HasSuffix(key, "ReplicaSpecs") {
			continue
		}
		var roles map[string]replicas
		if err := exactly(value, &roles); err != nil {
			return nil, err
		}
		for _, r := range roles {
			s.add(or(r.Replicas, 1), &r.Template)
		}
	}
	return s, nil
}

// leaderWorkerShape reads groups of one leader and workers; the leader is a worker if it has no template.
func leaderWorkerShape(text json.RawMessage) (*shape, error) {
	var l struct {
		Replicas *int `json:"replicas"`
		Group    struct {
			Leader *podTemplate `json:"leaderTemplate"`
			Worker podTemplate  `json:"workerTemplate"`
			Size   *int         `json:"size"`
		} `json:"leaderWorkerTemplate"`
	}
	err := exactly(text, &l)
	leader := l.Group.Leader
	if leader == nil {
		leader = &l.Group.Worker
	}
	groups := bound(or(l.Replicas, 1))
	s := new(shape)
	s.add(groups, leader)
	s.add(groups*bound(or(l.Group.Size, 1)-1), &l.Group.Worker)
	return s, err
}
