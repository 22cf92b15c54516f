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

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/pods"
)

// Start implements Kind.
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
		node = "" // Kueue puts back what the template was
	}
	for _, t := range s.templates() {
		t.mark(o, g)
		if err := t.aim(before, node); err != nil {
			return err
		}
	}
	if err := a.remember(o, ask); err != nil {
		return err
	}
	release(o)
	Stamp(o, g.Epoch)
	return nil
}

// grantOf returns what the pods of a job are to ask for. Kueue's quota need not cover what
// the user does not ask for, and then it would never admit the job: that stays out.
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

// names reports whether a size says anything of a resource.
func (s *size) names(r corev1.ResourceName) bool {
	return s.Requests[string(r)] != "" || s.Limits[string(r)] != ""
}

// Stop implements Kind.
func (a *adapter) Stop(o *unstructured.Unstructured, epoch int64) error {
	if o.GetLabels()[kueueQueue] != "" {
		return fmt.Errorf("%s: stop: %w", name(o), ErrKueue)
	}
	grow(o.Object, "spec")["suspend"] = true
	Stamp(o, epoch)
	return nil
}

// Resize implements Kind.
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
	case o.GetLabels()[kueueQueue] != "":
		return fmt.Errorf("%w: %w while it runs", ErrKueue, ErrFixed)
	case !s.inPlace:
		return fmt.Errorf("%w while it runs", ErrFixed)
	}
	ask, err := askedOf(o, s, a.o.gpu())
	if err != nil {
		return err
	}
	if err := s.resize(g.Workers); err != nil {
		return err
	}
	if err := a.remember(o, ask); err != nil {
		return err
	}
	Stamp(o, g.Epoch)
	return nil
}

// resize gives a job so many workers.
func (s *shape) resize(workers int) error {
	switch {
	case workers == s.workers:
		return nil
	case s.size == nil:
		return fmt.Errorf("%d workers, and it has %d: %w: %s", workers, s.workers, ErrFixed, s.fixed)
	}
	return s.size(workers)
}

// remember keeps what a job's user asked for, if that is not what the object says now.
func (a *adapter) remember(o *unstructured.Unstructured, ask *size) error {
	now, err := a.look(o)
	if err != nil {
		return err
	}
	granted := sizeOf(now, a.o.gpu())
	if granted.same(ask) {
		annotate(o, v1alpha1.Asked, "")
		return nil
	}
	text, err := (&asked{Asked: *ask, Granted: *granted}).text()
	annotate(o, v1alpha1.Asked, text)
	return err
}

// release lets the pods of a job come: it is no longer suspended, or, if Kueue queues it, no
// longer held back from Kueue.
func release(o *unstructured.Unstructured) {
	if o.GetLabels()[kueueQueue] == "" {
		grow(o.Object, "spec")["suspend"] = false
		return
	}
	held := gates(o)
	if slices.Contains(held, v1alpha1.AdmissionGate) {
		held = slices.DeleteFunc(held, func(g string) bool { return g == v1alpha1.AdmissionGate })
		annotate(o, kueueGates, strings.Join(held, ","))
	}
}

// Stamp says which plan an object follows.
func Stamp(o *unstructured.Unstructured, epoch int64) {
	annotate(o, v1alpha1.Epoch, strconv.FormatInt(epoch, 10))
}

// annotate sets an annotation, and takes it away if it is empty.
func annotate(o *unstructured.Unstructured, key, value string) {
	if value == "" {
		if all := child(o.Object, "metadata", "annotations"); all != nil {
			delete(all, key)
		}
		return
	}
	grow(o.Object, "metadata", "annotations")[key] = value
}

// doNotDisrupt, an annotation on pods, keeps Karpenter from taking their node away of its own
// accord, and makes it choose others first when it is to have fewer.
const doNotDisrupt = "karpenter.sh/do-not-disrupt"

// mark says on the pods of a template whose they are, in which queue, of which start and how
// many, and has them tolerate what they are to.
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

// MarkWorkload marks the pods with GPUs of the Workload that Kueue keeps of a job, as Start marks
// those of the job's object o. It reports whether that changes it.
func MarkWorkload(workload, o *unstructured.Unstructured, g *Grant, gpu corev1.ResourceName) bool {
	before := workload.DeepCopy()
	sets, _ := child(workload.Object, "spec")["podSets"].([]any)
	for _, set := range sets {
		m, _ := set.(map[string]any)
		t := template(child(m, "template"))
		if p, err := t.spec(); err == nil && pods.Request(&p.Spec, gpu).GPUs > 0 {
			t.mark(o, g)
		}
	}
	return !equality.Semantic.DeepEqual(before.Object, workload.Object)
}

// tolerate adds a toleration to the spec of a pod that has it not.
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
