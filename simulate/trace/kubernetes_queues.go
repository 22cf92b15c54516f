package trace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
)

// A Quota is the number of GPUs that a ClusterQueue of Kueue may use.
type Quota struct {
	Queue   string
	Cohort  string // queues of the same cohort borrow from each other; empty: none
	Strict  bool   // Kueue's queueing strategy StrictFIFO
	Flavors []FlavorQuota
}

// A FlavorQuota is the number of GPUs of one flavor (kind of node) that a ClusterQueue may use.
type FlavorQuota struct {
	Flavor  string
	Types   []cluster.GPUType // GPU types of the flavor's nodes, ascending; nil: all
	Nominal int
	Borrow  *int // most GPUs that the queue borrows; nil: no limit
	Lend    *int // most GPUs that the queue lends; nil: Nominal
}

type kubeQueues struct {
	queues  []Quota
	local   map[string]string            // ClusterQueue of a LocalQueue, by namespace/name
	flavors map[string]map[string]string // node labels of a ResourceFlavor, by name
	labels  map[string]map[string]string // of nodes with GPUs, by name
}

func (d *kubeDump) addLocalQueue(o *kubeObject) error {
	var spec struct {
		ClusterQueue string `json:"clusterQueue"`
	}
	if err := json.Unmarshal(o.Spec, &spec); err != nil {
		return fmt.Errorf("spec: %w", err)
	}
	d.local[o.Meta.Namespace+"/"+o.Meta.Name] = spec.ClusterQueue
	return nil
}

func (d *kubeDump) addFlavor(o *kubeObject) error {
	var spec struct {
		Labels map[string]string `json:"nodeLabels"`
	}
	if len(o.Spec) > 0 {
		if err := json.Unmarshal(o.Spec, &spec); err != nil {
			return fmt.Errorf("spec: %w", err)
		}
	}
	d.flavors[o.Meta.Name] = spec.Labels
	return nil
}

type queueSpec struct {
	Cohort     string `json:"cohort"`
	CohortName string `json:"cohortName"`
	Strategy   string `json:"queueingStrategy"`
	Stop       string `json:"stopPolicy"`
	Preemption struct {
		Within  string `json:"withinClusterQueue"`
		Reclaim string `json:"reclaimWithinCohort"`
	} `json:"preemption"`
	Groups []struct {
		Flavors []struct {
			Name      string     `json:"name"`
			Resources []resource `json:"resources"`
		} `json:"flavors"`
	} `json:"resourceGroups"`
}

type resource struct {
	Name    string        `json:"name"`
	Nominal kubeQuantity  `json:"nominalQuota"`
	Borrow  *kubeQuantity `json:"borrowingLimit"`
	Lend    *kubeQuantity `json:"lendingLimit"`
}

func (d *kubeDump) addClusterQueue(o *kubeObject) error {
	var s queueSpec
	if err := json.Unmarshal(o.Spec, &s); err != nil {
		return fmt.Errorf("spec: %w", err)
	}
	q := Quota{Queue: o.Meta.Name, Cohort: s.Cohort + s.CohortName, Strict: s.Strategy == "StrictFIFO"}
	for _, g := range s.Groups {
		for _, f := range g.Flavors {
			if k := slices.IndexFunc(f.Resources, func(r resource) bool { return strings.HasSuffix(r.Name, "/gpu") }); k >= 0 {
				r := &f.Resources[k]
				q.Flavors = append(q.Flavors, FlavorQuota{Flavor: f.Name, Nominal: int(r.Nominal), Borrow: whole(r.Borrow), Lend: whole(r.Lend)})
			}
		}
	}
	for note, so := range map[string]bool{
		"Kueue queues that preempt; preemption is not replayed": preempts(s.Preemption.Within) || preempts(s.Preemption.Reclaim),
		"stopped Kueue queues":             s.Stop != "" && s.Stop != "None",
		"Kueue queues without a GPU quota": len(q.Flavors) == 0,
	} {
		if so {
			d.o.Summary.Note(note)
		}
	}
	if len(q.Flavors) > 0 {
		d.queues = append(d.queues, q)
	}
	return nil
}

func preempts(policy string) bool { return policy != "" && policy != "Never" }

func whole(q *kubeQuantity) *int {
	if q == nil {
		return nil
	}
	n := int(*q)
	return &n
}

func (d *kubeDump) quotas() []Quota {
	for i := range d.queues {
		q := &d.queues[i]
		for k := range q.Flavors {
			q.Flavors[k].Types = d.typesOf(d.flavors[q.Flavors[k].Flavor])
		}
		q.Flavors = slices.DeleteFunc(q.Flavors, func(f FlavorQuota) bool {
			empty := f.Types != nil && len(f.Types) == 0
			if empty {
				d.o.Summary.Note("quotas of flavors without nodes, ignored")
			}
			return empty
		})
	}
	slices.SortFunc(d.queues, func(a, b Quota) int { return strings.Compare(a.Queue, b.Queue) })
	return d.queues
}

func (d *kubeDump) typesOf(labels map[string]string) []cluster.GPUType {
	if len(labels) == 0 {
		return nil
	}
	types := []cluster.GPUType{}
	for name, n := range d.nodes {
		missing := false
		for key, value := range labels {
			missing = missing || d.labels[name][key] != value
		}
		if !missing && !slices.Contains(types, n.gpuType) {
			types = append(types, n.gpuType)
		}
	}
	slices.Sort(types)
	return types
}

func (d *kubeDump) flavorTypes(flavors []string) (types []cluster.GPUType) {
	for _, f := range flavors {
		labels := d.flavors[f]
		found := d.typesOf(labels)
		if kind := typeOf(labels); len(found) == 0 && kind != unnamedType {
			found = append(found, kind)
		}
		types = append(types, found...)
	}
	slices.Sort(types)
	return slices.Compact(types)
}

func (d *kubeDump) queued(j *kubeJob) (queue string, priority float64) {
	queue = queueOf(j.object)
	local, admitted := queue, ""
	if w := j.quota(); w != nil {
		priority, admitted = w.workload.Priority, w.workload.admitted
		if local == "" {
			local = w.workload.Queue
		}
	}
	return cmp.Or(d.local[j.object.Meta.Namespace+"/"+local], admitted, local), priority
}
