package trace

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/trace/parse"
)

type podTemplate struct {
	Meta struct {
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec podSpec `json:"spec"`
}

// partOf returns what names a part of a GPU in a pod: a resource, or an annotation of KAI Scheduler; "": none.
func (t *podTemplate) partOf() string {
	for _, name := range []string{"gpu-fraction", "gpu-memory"} {
		if t.Meta.Annotations[name] != "" {
			return name
		}
	}
	return t.Spec.first(kubeResources.parts)
}

type podSpec struct {
	Node       string            `json:"nodeName"`
	Selector   map[string]string `json:"nodeSelector"`
	Containers []container       `json:"containers"`
	Init       []container       `json:"initContainers"`
	Claims     []struct{}        `json:"resourceClaims"`
	Overhead   kubeResources     `json:"overhead"`
	Whole      *podResources     `json:"resources"` // of the pod as a whole; nil: none
}

type podResources struct {
	Requests kubeResources `json:"requests"`
	Limits   kubeResources `json:"limits"`
}

type container struct {
	Restart   string       `json:"restartPolicy"` // Always: an init container that keeps running
	Resources podResources `json:"resources"`
}

func (r *podResources) amount(name string) (n float64, ok bool) {
	q, ok := r.Requests[name]
	if !ok {
		q, ok = r.Limits[name]
	}
	return float64(q), ok
}

func (c *container) gpus() float64 {
	return float64(max(c.Resources.Requests.gpus(), c.Resources.Limits.gpus()))
}

func (p *podSpec) need(amount func(*container) float64) float64 {
	all, most := 0.0, 0.0
	for i := range p.Init {
		if n := amount(&p.Init[i]); p.Init[i].Restart == "Always" {
			all += n
		} else {
			most = max(most, all+n)
		}
	}
	for i := range p.Containers {
		all += amount(&p.Containers[i])
	}
	return max(all, most)
}

func (p *podSpec) gpus() int { return int(p.need((*container).gpus)) }

func (p *podSpec) amount(name string) float64 {
	n, ok := 0.0, false
	if p.Whole != nil {
		n, ok = p.Whole.amount(name)
	}
	if !ok {
		n = p.need(func(c *container) float64 { n, _ := c.Resources.amount(name); return n })
	}
	return n + float64(p.Overhead[name])
}

func (p *podSpec) first(find func(kubeResources) string) string {
	for _, all := range [][]container{p.Containers, p.Init} {
		for i := range all {
			r := &all[i].Resources
			if name := find(r.Limits) + find(r.Requests); name != "" {
				return cmp.Or(find(r.Limits), find(r.Requests))
			}
		}
	}
	return ""
}

type shape struct {
	workers, gpus int     // with GPUs; total GPUs
	each          int     // GPUs of every worker; 0: they differ
	cpus, memory  float64 // of all pods, in cores and bytes
	parts, claims bool
	device        string            // a resource of a vendor that is no GPU; "": none
	types         []cluster.GPUType // that selectors name, ascending
}

func bound(n int) int { return min(max(n, 0), parse.MaxCount+1) }

func (s *shape) add(pods int, t *podTemplate) {
	p := &t.Spec
	pods = bound(pods)
	s.cpus += float64(pods) * p.amount("cpu")
	s.memory += float64(pods) * p.amount("memory")
	s.claims = s.claims || len(p.Claims) > 0
	s.parts = s.parts || t.partOf() != ""
	s.device = cmp.Or(s.device, p.first(kubeResources.device))
	gpus := bound(p.gpus())
	s.addWorkers(pods, gpus)
	if kind := typeOf(p.Selector); gpus > 0 && kind != unnamedType && !slices.Contains(s.types, kind) {
		s.types = append(s.types, kind)
		slices.Sort(s.types)
	}
}

func (s *shape) addWorkers(workers, gpus int) {
	if workers == 0 || gpus == 0 {
		return
	}
	s.each = gpus * btoi(s.workers == 0 || s.each == gpus)
	s.workers = bound(s.workers + workers)
	s.gpus = bound(s.gpus + workers*gpus)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func or(n *int, unsaid int) int {
	if n == nil {
		return unsaid
	}
	return *n
}

type jobSpec struct {
	Parallelism *int        `json:"parallelism"`
	Completions *int        `json:"completions"`
	Template    podTemplate `json:"template"`
}

func (j *jobSpec) pods() int {
	n := or(j.Parallelism, 1)
	return min(n, or(j.Completions, n))
}

func jobSetShape(text json.RawMessage) (*shape, error) {
	var set struct {
		Jobs []struct {
			Replicas *int `json:"replicas"`
			Template struct {
				Spec jobSpec `json:"spec"`
			} `json:"template"`
		} `json:"replicatedJobs"`
	}
	err := exactly(text, &set)
	s := new(shape)
	for i := range set.Jobs {
		j := &set.Jobs[i]
		s.add(bound(or(j.Replicas, 1))*bound(j.Template.Spec.pods()), &j.Template.Spec.Template)
	}
	return s, err
}

func trainJobShape(text json.RawMessage) (*shape, error) {
	var t struct {
		Trainer struct {
			Nodes   *int         `json:"numNodes"`
			PerNode podResources `json:"resourcesPerNode"`
		} `json:"trainer"`
	}
	err := exactly(text, &t)
	c := container{Resources: t.Trainer.PerNode}
	s := new(shape)
	s.add(or(t.Trainer.Nodes, 1), &podTemplate{Spec: podSpec{Containers: []container{c}}})
	return s, err
}

func rayJobShape(text json.RawMessage) (*shape, error) {
	var r struct {
		Cluster json.RawMessage `json:"rayClusterSpec"`
	}
	if err := exactly(text, &r); err != nil || len(r.Cluster) == 0 {
		return new(shape), err
	}
	return rayClusterShape(r.Cluster)
}

func rayClusterShape(text json.RawMessage) (*shape, error) {
	var r struct {
		Head struct {
			Template podTemplate `json:"template"`
		} `json:"headGroupSpec"`
		Workers []struct {
			Replicas *int        `json:"replicas"`
			Hosts    *int        `json:"numOfHosts"`
			Template podTemplate `json:"template"`
		} `json:"workerGroupSpecs"`
	}
	err := exactly(text, &r)
	s := new(shape)
	s.add(1, &r.Head.Template)
	for i := range r.Workers {
		w := &r.Workers[i]
		s.add(bound(or(w.Replicas, 1))*bound(or(w.Hosts, 1)), &w.Template)
	}
	return s, err
}
