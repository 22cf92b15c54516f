package trace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
)

type kubeWorkload struct {
	Queue    string   `json:"queueName"` // the LocalQueue
	Priority float64  `json:"priority"`
	PodSets  []podSet `json:"podSets"`

	shape    *shape        // with the counts that Kueue admitted
	admitted string        // the ClusterQueue; empty: not admitted
	flavors  []string      // of its GPUs
	counted  int           // GPUs that Kueue counts against the quota while it is reserved
	over     bool          // its reclaimable pods outnumber its pods
	past     time.Duration // of runs before evictions; zero: unknown
}

type podSet struct {
	Name     string      `json:"name"`
	Count    *int        `json:"count"`
	Template podTemplate `json:"template"`
}

type workloadStatus struct {
	Admission struct {
		Queue string `json:"clusterQueue"`
		Sets  []struct {
			Name    string            `json:"name"`
			Count   *int              `json:"count"`
			Flavors map[string]string `json:"flavors"`
		} `json:"podSetAssignments"`
	} `json:"admission"`
	Reclaimable []struct {
		Name  string `json:"name"`
		Count int    `json:"count"`
	} `json:"reclaimablePods"`
	Past      int `json:"accumulatedPastExecutionTimeSeconds"`
	PastBeta1 int `json:"accumulatedPastExexcutionTimeSeconds"`
}

func (d *kubeDump) addWorkload(o *kubeObject) error {
	w, status := new(kubeWorkload), new(workloadStatus)
	if len(o.Spec) > 0 {
		if err := json.Unmarshal(o.Spec, w); err != nil {
			return fmt.Errorf("spec: %w", err)
		}
	}
	if len(o.RawStatus) > 0 {
		if err := json.Unmarshal(o.RawStatus, status); err != nil {
			return fmt.Errorf("status: %w", err)
		}
	}
	w.fill(status)
	if err := w.shape.check(); err != nil {
		return err
	}
	o.workload, o.Spec, o.RawStatus, w.PodSets = w, nil, nil, nil
	same := func(other *kubeObject) bool { return other.Meta.UID == o.Meta.UID }
	if !slices.ContainsFunc(d.workloads[o.owners()], same) {
		d.workloads[o.owners()] = append(d.workloads[o.owners()], o)
	}
	return nil
}

func (w *kubeWorkload) fill(s *workloadStatus) {
	w.shape, w.admitted = new(shape), s.Admission.Queue
	w.past = time.Duration(max(s.Past, s.PastBeta1)) * time.Second
	for i := range w.PodSets {
		set := &w.PodSets[i]
		pods := or(set.Count, 1)
		for _, a := range s.Admission.Sets {
			if a.Name == set.Name {
				pods = or(a.Count, pods)
				w.addFlavors(a.Flavors)
			}
		}
		w.shape.add(pods, &set.Template)
		held := bound(pods)
		for _, r := range s.Reclaimable {
			if r.Name == set.Name {
				w.over = w.over || r.Count > held
				held = bound(held - max(r.Count, 0))
			}
		}
		w.counted = bound(w.counted + held*bound(set.Template.Spec.gpus()))
	}
}

func (w *kubeWorkload) addFlavors(flavors map[string]string) {
	for resource, f := range flavors {
		if strings.HasSuffix(resource, "/gpu") && !slices.Contains(w.flavors, f) {
			w.flavors = append(w.flavors, f)
		}
	}
	slices.Sort(w.flavors)
}

func (o *kubeObject) owners() string {
	var all []string
	for _, w := range o.Meta.Owners {
		all = append(all, w.UID)
	}
	slices.Sort(all)
	return cmp.Or(strings.Join(all, " "), o.Meta.UID)
}

func (o *kubeObject) name() string {
	if o.workload != nil && len(o.Meta.Owners) == 1 && o.Meta.Owners[0].Name != "" {
		return o.Meta.Owners[0].Name
	}
	return o.Meta.Name
}

func (o *kubeObject) replaced() bool {
	c := o.condition("Finished")
	return c != nil && c.Status == "True" && c.Reason == "WorkloadSliceReplaced"
}

// assign gives each Workload to its job. It returns the Workloads that have no job in the dump, as jobs: the
// objects of their former job belong to them.
func (d *kubeDump) assign() (jobs []*kubeObject) {
	for _, owners := range slices.Sorted(maps.Keys(d.workloads)) {
		all := d.workloads[owners]
		j := d.jobOf(all[0])
		if j != nil {
			j.quotas = append(j.quotas, all...)
			continue
		}
		current := slices.DeleteFunc(slices.Clone(all), (*kubeObject).replaced)
		if len(current) == 1 {
			jobs = append(jobs, d.orphan(current[0], all))
			for _, w := range current[0].Meta.Owners {
				d.jobs[w.UID] = d.jobs[current[0].Meta.UID]
			}
			continue
		}
		for _, w := range current {
			jobs = append(jobs, d.orphan(w, []*kubeObject{w}))
		}
	}
	return jobs
}

func (d *kubeDump) jobOf(o *kubeObject) *kubeJob {
	if uid := d.owner(o); uid != "" {
		return d.jobs[uid]
	}
	return nil
}

func (d *kubeDump) orphan(o *kubeObject, all []*kubeObject) *kubeObject {
	d.o.Summary.Note("Kueue Workloads without their job, read as jobs")
	for _, w := range all {
		o.Meta.Created = earlier(o.Meta.Created, w.Meta.Created)
	}
	d.jobs[o.Meta.UID] = &kubeJob{object: o, shape: o.workload.shape, quotas: all}
	return o
}

// quota returns the current Workload of a job: the last one, and one that was not replaced if there is one.
// nil: none.
func (j *kubeJob) quota() (last *kubeObject) {
	for _, w := range j.quotas {
		if last == nil || last.replaced() || !w.replaced() && !w.Meta.Created.Before(last.Meta.Created) {
			last = w
		}
	}
	return last
}

func (j *kubeJob) admitted() (at time.Time) {
	current := j.quota()
	for _, w := range j.quotas {
		if w != current && !w.replaced() {
			continue
		}
		admitted := w.since("Admitted")
		if admitted.IsZero() {
			admitted = w.since("QuotaReserved")
		}
		at = earlier(at, admitted)
	}
	return at
}

const maxDiffering = 3

func (d *kubeDump) compareQuotas(roots []*kubeObject) {
	named := 0
	for _, o := range roots {
		j := d.jobs[o.Meta.UID]
		w := j.quota()
		if ended, _ := o.ended(); w == nil || !ended.IsZero() || w.since("QuotaReserved").IsZero() {
			continue
		}
		if w.workload.over {
			d.o.Summary.Note("Kueue Workloads with more reclaimable pods than pods; these are not subtracted")
		}
		used, known := j.used()
		if !known || used > 0 && used <= w.workload.counted || w.workload.over || used == w.workload.counted {
			continue
		}
		if named++; named > maxDiffering {
			d.o.Summary.Note("more jobs for which Kueue counts other GPUs than their pods use")
			continue
		}
		d.o.Summary.Note(fmt.Sprintf("%s: Kueue counts %s, its pods use %d", cut(o.Meta.Namespace+"/"+o.name()), printable.Count(w.workload.counted, "GPU"), used))
	}
}

func (j *kubeJob) used() (gpus int, known bool) {
	for _, p := range j.pods {
		if phase := p.object.Status.Phase; !p.bound.IsZero() && phase != "Succeeded" && phase != "Failed" {
			gpus += p.gpus
		}
	}
	switch {
	case len(j.pods) > 0:
		return gpus, true
	case !j.stopped().IsZero() && j.stopped().After(j.admitted()):
		return 0, true
	}
	return j.object.Status.Active * j.shape.each, j.object.Status.Active > 0 && j.shape.each > 0
}
