package view

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Names that the scheduler writes into pod templates.
const (
	jobUID         = "oxgang.dev/job-uid"
	generation     = "oxgang.dev/generation"
	workers        = "oxgang.dev/workers"
	placementGate  = "oxgang.dev/placement"
	trainManager   = "oxgang.dev/scheduler"
	admissionGate  = "oxgang.dev/admission"
	admissionGates = "kueue.x-k8s.io/admission-gated-by"
)

// ErrManaged says that a job's queue starts its jobs itself.
var ErrManaged = errors.New("its queue starts jobs itself")

// A Release is a job that was released, or would not be.
type Release struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Kueue: it is in a queue of Kueue's, which starts it.
	Kueue bool `json:"kueue,omitempty"`
}

// Waiting returns the jobs of a namespace, of all if it is empty, that name a queue, are suspended and are
// no part of another.
func (k *Kubectl) Waiting(ctx context.Context, namespace string) ([]Release, error) {
	c, err := k.cluster(ctx, namespace)
	if err != nil {
		return nil, err
	}
	var all []Release
	for i := range c.objects {
		o := &c.objects[i]
		if o.Meta.Labels[queueLabel] != "" && o.Spec.Suspend && !o.part() && o.ended() == "" {
			all = append(all, Release{Kind: o.Kind, Namespace: o.Meta.Namespace, Name: o.Meta.Name})
		}
	}
	return all, nil
}

// Release gives a suspended job back to its owner: it removes what the scheduler has written to its pod
// templates, and resumes it, unless Kueue is to do so. The name may be "kind/name". The error is ErrManaged while
// the mode of its queue is Admit or Resize, because the API server would refuse it.
func (k *Kubectl) Release(ctx context.Context, namespace, name string) (*Release, error) {
	kind, name := splitKind(name)
	o, err := k.job(ctx, kind, namespace, name)
	if err != nil {
		return nil, err
	}
	r := &Release{Kind: o.Kind, Namespace: namespace, Name: name, Kueue: o.Meta.Labels[kueueLabel] != ""}
	queue := o.Meta.Labels[queueLabel]
	switch q, err := get[Queue](ctx, k, queues, queue); {
	case queue == "":
		return nil, fmt.Errorf("%s %s/%s: it names no queue, so there is nothing to release", o.Kind, namespace, name)
	case !o.Spec.Suspend:
		return nil, fmt.Errorf("%s %s/%s: it is not suspended, so there is nothing to release", o.Kind, namespace, name)
	case err == nil && acts(q.Spec.Mode):
		return nil, fmt.Errorf("%s %s/%s: %w: queue %s is in mode %s", o.Kind, namespace, name, ErrManaged, queue, q.Spec.Mode)
	case err != nil && !unseen(err):
		return nil, err
	}
	return r, k.release(ctx, r, resourceOf(o.Kind))
}

// resourceOf returns how kubectl calls a kind of job.
func resourceOf(kind string) string {
	i := slices.IndexFunc(kinds, func(k jobKind) bool { return k.kind == kind })
	return kinds[i].resource
}

// release writes the object as it is without the scheduler; if somebody else wrote it meanwhile, kubectl
// says so, and nothing is changed.
func (k *Kubectl) release(ctx context.Context, r *Release, resource string) error {
	o, err := get[map[string]any](ctx, k, resource, r.Name, "-n", r.Namespace)
	if err != nil {
		return err
	}
	cleaned(*o, r.Kueue)
	text, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("release %s/%s: %w", r.Namespace, r.Name, err)
	}
	_, err = k.input(ctx, bytes.NewReader(text), "replace", "-f", "-")
	return err
}

// cleaned removes from a job's object what the scheduler has written to it, and resumes it unless Kueue is to.
func cleaned(o map[string]any, kueue bool) {
	spec, _ := o["spec"].(map[string]any)
	meta, _ := o["metadata"].(map[string]any)
	if annotations, _ := meta["annotations"].(map[string]any); kueue && annotations != nil {
		gates, _ := annotations[admissionGates].(string)
		left := slices.DeleteFunc(strings.Split(gates, ","), func(g string) bool { return strings.TrimSpace(g) == admissionGate || g == "" })
		if annotations[admissionGates] = strings.Join(left, ","); len(left) == 0 {
			delete(annotations, admissionGates)
		}
	}
	if patches, is := spec["runtimePatches"].([]any); is {
		spec["runtimePatches"] = slices.DeleteFunc(patches, func(p any) bool {
			m, _ := p.(map[string]any)
			return m["manager"] == trainManager
		})
	}
	templates(spec, cleanTemplate)
	if !kueue {
		spec["suspend"] = false
	}
}

// templates calls do for all pod templates in a part of an object.
func templates(in any, do func(map[string]any)) {
	switch in := in.(type) {
	case []any:
		for _, v := range in {
			templates(v, do)
		}
	case map[string]any:
		if spec, _ := in["spec"].(map[string]any); spec["containers"] != nil {
			do(in)
			return
		}
		for _, v := range in {
			templates(v, do)
		}
	}
}

// cleanTemplate removes the marks of the last start from a pod template, its gate, and the node that it was
// sent to.
func cleanTemplate(t map[string]any) {
	meta, _ := t["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	spec, _ := t["spec"].(map[string]any)
	gates, _ := spec["schedulingGates"].([]any)
	left := slices.DeleteFunc(slices.Clone(gates), func(g any) bool {
		m, _ := g.(map[string]any)
		return m["name"] == placementGate
	})
	if spec["schedulingGates"] = left; len(left) == 0 {
		delete(spec, "schedulingGates")
	}
	if _, started := labels[jobUID]; started && len(left) == len(gates) { // else its pods waited for their nodes
		unpin(spec)
	}
	for _, l := range []string{jobUID, generation, workers} {
		delete(labels, l)
	}
}

// unpin removes the one node from the required node affinity of a pod. Terms that said nothing else go, and so does
// what is then empty.
func unpin(spec map[string]any) {
	affinity, _ := spec["affinity"].(map[string]any)
	node, _ := affinity["nodeAffinity"].(map[string]any)
	const required = "requiredDuringSchedulingIgnoredDuringExecution"
	must, _ := node[required].(map[string]any)
	terms, _ := must["nodeSelectorTerms"].([]any)
	var left []any
	for _, t := range terms {
		m, _ := t.(map[string]any)
		delete(m, "matchFields")
		if len(m) > 0 {
			left = append(left, m)
		}
	}
	switch {
	case must == nil:
	case len(left) > 0:
		must["nodeSelectorTerms"] = left
	default:
		if delete(node, required); len(node) == 0 {
			delete(affinity, "nodeAffinity")
		}
		if len(affinity) == 0 {
			delete(spec, "affinity")
		}
	}
}
