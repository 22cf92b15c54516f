package trace

import (
	"encoding/json"
	"fmt"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

type podTemplate struct {
	Spec podSpec `json:"spec"`
}

type podSpec struct {
	Node       string            `json:"nodeName"`
	Selector   map[string]string `json:"nodeSelector"`
	Containers []container       `json:"containers"`
	Init       []container       `json:"initContainers"`
	Claims     []struct{}        `json:"resourceClaims"`
}

type container struct {
	Restart   string `json:"restartPolicy"` // Always: an init container that keeps running
	Resources struct {
		Requests kubeResources `json:"requests"`
		Limits   kubeResources `json:"limits"`
	} `json:"resources"`
}

// amount returns a container's request for a resource, or else its limit.
func (c *container) amount(name string) float64 {
	if q, ok := c.Resources.Requests[name]; ok {
		return float64(q)
	}
	return float64(c.Resources.Limits[name])
}

func (c *container) gpus() float64 {
	return float64(max(c.Resources.Requests.gpus(), c.Resources.Limits.gpus()))
}

// need returns the pod's request as Kubernetes counts it: all containers, or an init container with more.
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

type shape struct {
	workers, gpus int     // with GPUs; total GPUs
	each          int     // GPUs of every worker; 0: they differ
	cpus, memory  float64 // of all pods, in cores and bytes
	parts, claims bool    // requests parts of GPUs, or claims devices
	selector      map[string]string
}

// bound returns n, at least 0 and at most one above the limit.
func bound(n int) int { return min(max(n, 0), parse.MaxCount+1) }

func (s *shape) add(pods int, p *podSpec) {
	pods = bound(pods)
	s.cpus += float64(pods) * p.need(func(c *container) float64 { return c.amount("cpu") })
	s.memory += float64(pods) * p.need(func(c *container) float64 { return c.amount("memory") })
	s.claims = s.claims || len(p.Claims) > 0
	for i := range p.Containers {
		s.parts = s.parts || p.Containers[i].Resources.Limits.parts()
	}
	s.addWorkers(pods, bound(p.gpus()))
	if p.gpus() > 0 && s.selector == nil {
		s.selector = p.Selector
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

var kubeShapes = map[string]func(json.RawMessage) (*shape, error){
	"Job": func(text json.RawMessage) (*shape, error) {
		var j jobSpec
		err := json.Unmarshal(text, &j)
		s := new(shape)
		s.add(j.pods(), &j.Template.Spec)
		return s, err
	},
	"JobSet":   jobSetShape,
	"TrainJob": trainJobShape,
	"RayJob":   rayJobShape,
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
	err := json.Unmarshal(text, &set)
	s := new(shape)
	for i := range set.Jobs {
		j := &set.Jobs[i]
		s.add(bound(or(j.Replicas, 1))*bound(j.Template.Spec.pods()), &j.Template.Spec.Template.Spec)
	}
	return s, err
}

func trainJobShape(text json.RawMessage) (*shape, error) {
	var t struct {
		Trainer struct {
			Nodes   *int `json:"numNodes"`
			PerNode struct {
				Requests kubeResources `json:"requests"`
				Limits   kubeResources `json:"limits"`
			} `json:"resourcesPerNode"`
		} `json:"trainer"`
	}
	err := json.Unmarshal(text, &t)
	c := container{Resources: t.Trainer.PerNode}
	s := new(shape)
	s.add(or(t.Trainer.Nodes, 1), &podSpec{Containers: []container{c}})
	return s, err
}

func rayJobShape(text json.RawMessage) (*shape, error) {
	var r struct {
		Cluster struct {
			Head struct {
				Template podTemplate `json:"template"`
			} `json:"headGroupSpec"`
			Workers []struct {
				Replicas *int        `json:"replicas"`
				Hosts    *int        `json:"numOfHosts"`
				Template podTemplate `json:"template"`
			} `json:"workerGroupSpecs"`
		} `json:"rayClusterSpec"`
	}
	err := json.Unmarshal(text, &r)
	s := new(shape)
	s.add(1, &r.Cluster.Head.Template.Spec)
	for i := range r.Cluster.Workers {
		w := &r.Cluster.Workers[i]
		s.add(bound(or(w.Replicas, 1))*bound(or(w.Hosts, 1)), &w.Template.Spec)
	}
	return s, err
}

func shapeOf(o *kubeObject) (*shape, error) {
	s, err := kubeShapes[o.Kind](o.Spec)
	switch {
	case err != nil:
		return nil, fmt.Errorf("spec: %w", err)
	case s.gpus > parse.MaxCount:
		return nil, fmt.Errorf("more than %d GPUs, want at most that", parse.MaxCount)
	case s.cpus > parse.MaxCount || s.memory > 1<<60:
		return nil, fmt.Errorf("%g cores and %g bytes of memory, want at most %d and 2^60", s.cpus, s.memory, parse.MaxCount)
	}
	return s, nil
}
