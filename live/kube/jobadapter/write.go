package jobadapter

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
)

func (a *adapter) Start(o *unstructured.Unstructured, g *Grant) error {
	if err := a.start(o, g); err != nil {
		return fmt.Errorf("%s: start: %w", name(o), err)
	}
	return nil
}

func (a *adapter) start(o *unstructured.Unstructured, g *Grant) error {
	s, err := a.look(o)
	switch {
	case err != nil:
		return err
	case !s.suspended:
		return errors.New("it runs, want it suspended")
	case g.Generation < 1:
		return fmt.Errorf("generation %d, want at least 1", g.Generation)
	}
	ask, err := askedOf(o, s, a.o.gpu())
	if err != nil {
		return err
	}
	if err := s.resize(g.Workers); err != nil {
		return err
	}
	if s.resources && s.pod.Spec.Resources == nil {
		if err := s.templates()[0].request(ask, grantOf(o, ask, g), a.o.gpu()); err != nil {
			return err
		}
	}
	node, before := g.Node, s.aimed(o)
	if !s.affine || o.GetLabels()[kueueQueue] != "" {
		node = "" // Kueue restores the original template
	}
	for _, t := range s.templates() {
		t.mark(o, g)
		if err := t.aim(before, node); err != nil {
			return err
		}
	}
	var flavor map[string]string
	if o.GetLabels()[kueueQueue] != "" {
		flavor = choose(s.templates(), flavorOf(o), g.Flavor)
	}
	if err := a.remember(o, ask, flavor); err != nil {
		return err
	}
	release(o)
	Stamp(o, g.Epoch)
	if o.GetLabels()[kueueQueue] == "" { // Kueue suspends its jobs itself
		annotate(o, v1alpha1.Started, "true")
	}
	return nil
}

// A job in Kueue gets no unrequested CPUs or memory, which Kueue's quota need not cover.
func grantOf(o *unstructured.Unstructured, ask *size, g *Grant) *Grant {
	if o.GetLabels()[kueueQueue] == "" {
		return g
	}
	only := *g
	if !ask.names(corev1.ResourceCPU) {
		only.CPUs = 0
	}
	if !ask.names(corev1.ResourceMemory) {
		only.Memory = 0
	}
	return &only
}

func (s *size) names(r corev1.ResourceName) bool {
	return s.Requests[string(r)] != "" || s.Limits[string(r)] != ""
}

func (a *adapter) Stop(o *unstructured.Unstructured, epoch int64) error {
	if o.GetLabels()[kueueQueue] != "" {
		return fmt.Errorf("%s: stop: %w", name(o), errKueue)
	}
	Suspend(o, epoch)
	return nil
}

// Suspend suspends a job of any kind, even in a Kueue queue, and records the epoch.
func Suspend(o *unstructured.Unstructured, epoch int64) {
	grow(o.Object, "spec")["suspend"] = true
	annotate(o, v1alpha1.Started, "")
	Stamp(o, epoch)
}

func (a *adapter) Resize(o *unstructured.Unstructured, g *Grant) error {
	if err := a.resize(o, g); err != nil {
		return fmt.Errorf("%s: resize: %w", name(o), err)
	}
	return nil
}

func (a *adapter) resize(o *unstructured.Unstructured, g *Grant) error {
	s, err := a.look(o)
	switch {
	case err != nil:
		return err
	case s.suspended:
		return errors.New("it is suspended, want it running")
	case o.GetLabels()[kueueQueue] != "" && !sliced(&s.pod.Spec):
		return fmt.Errorf("%w: %w while it runs", errKueue, errFixed)
	case !s.inPlace:
		return fmt.Errorf("%w while it runs", errFixed)
	}
	ask, err := askedOf(o, s, a.o.gpu())
	if err != nil {
		return err
	}
	if err := s.resize(g.Workers); err != nil {
		return err
	}
	if err := a.remember(o, ask, nil); err != nil {
		return err
	}
	Stamp(o, g.Epoch)
	return nil
}

func (s *shape) resize(workers int) error {
	switch {
	case workers == s.workers:
		return nil
	case s.size == nil:
		return fmt.Errorf("%d workers, but it has %d: %w: %s", workers, s.workers, errFixed, s.fixed)
	}
	return s.size(workers)
}

func (a *adapter) remember(o *unstructured.Unstructured, ask *size, flavor map[string]string) error {
	now, err := a.look(o)
	if err != nil {
		return err
	}
	granted := sizeOf(now, a.o.gpu())
	if granted.same(ask) && len(flavor) == 0 {
		annotate(o, v1alpha1.Asked, "")
		return nil
	}
	text, err := (&asked{Asked: *ask, Granted: *granted, Flavor: flavor}).text()
	annotate(o, v1alpha1.Asked, text)
	return err
}

func release(o *unstructured.Unstructured) {
	if o.GetLabels()[kueueQueue] == "" {
		grow(o.Object, "spec")["suspend"] = false
		return
	}
	ungate(o)
}

func ungate(o *unstructured.Unstructured) bool {
	held := gates(o)
	if !slices.Contains(held, v1alpha1.AdmissionGate) {
		return false
	}
	held = slices.DeleteFunc(held, func(g string) bool { return g == v1alpha1.AdmissionGate })
	annotate(o, kueueGates, strings.Join(held, ","))
	return true
}

// ReleaseWorkload removes the AdmissionGate from a Sliced job's Workload, so that Kueue can admit it, and reports
// whether it was present. Kueue (0.19) itself updates the Workloads of jobs that are not Sliced.
func ReleaseWorkload(workload *unstructured.Unstructured, j *Job) bool {
	return j.Sliced && ungate(workload)
}

// Stamp records the epoch in an annotation.
func Stamp(o *unstructured.Unstructured, epoch int64) {
	annotate(o, v1alpha1.Epoch, strconv.FormatInt(epoch, 10))
}

func annotate(o *unstructured.Unstructured, key, value string) {
	if value == "" {
		if all := child(o.Object, "metadata", "annotations"); all != nil {
			delete(all, key)
		}
		return
	}
	grow(o.Object, "metadata", "annotations")[key] = value
}

const doNotDisrupt = "karpenter.sh/do-not-disrupt"

func (t template) mark(o *unstructured.Unstructured, g *Grant) {
	labels := grow(t, "metadata", "labels")
	labels[v1alpha1.QueueLabel] = o.GetLabels()[v1alpha1.QueueLabel]
	labels[v1alpha1.JobUID] = string(o.GetUID())
	labels[v1alpha1.Generation] = strconv.FormatInt(g.Generation, 10)
	labels[v1alpha1.Workers] = strconv.Itoa(g.Workers)
	if g.Stays {
		grow(t, "metadata", "annotations")[doNotDisrupt] = "true"
	}
	spec := grow(t, "spec")
	for i := range g.Tolerations {
		tolerate(spec, &g.Tolerations[i])
	}
}

// MarkWorkload gives the GPU pods in a Workload the labels and tolerations that Start gave them in the job's object o.
// It reports whether the Workload changed.
func MarkWorkload(workload, o *unstructured.Unstructured, g *Grant, gpu corev1.ResourceName) bool {
	before := workload.DeepCopy()
	sets, _ := child(workload.Object, "spec")["podSets"].([]any)
	for _, set := range sets {
		m, _ := set.(map[string]any)
		t := template(child(m, "template"))
		if p, err := t.spec(); err == nil && inventory.Request(&p.Spec, gpu).GPUs > 0 {
			t.mark(o, g)
			t.add(flavorOf(o))
		}
	}
	return !equality.Semantic.DeepEqual(before.Object, workload.Object)
}

func tolerate(spec map[string]any, t *corev1.Toleration) {
	one := map[string]any{"key": t.Key}
	for k, v := range map[string]string{"operator": string(t.Operator), "value": t.Value, "effect": string(t.Effect)} {
		if v != "" {
			one[k] = v
		}
	}
	all, _ := spec["tolerations"].([]any)
	if !slices.ContainsFunc(all, func(o any) bool { return equality.Semantic.DeepEqual(o, any(one)) }) {
		spec["tolerations"] = append(slices.Clip(all), any(one))
	}
}
