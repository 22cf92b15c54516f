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

const (
	jobUID         = "oxgang.dev/job-uid"
	generation     = "oxgang.dev/generation"
	workers        = "oxgang.dev/workers"
	placementGate  = "oxgang.dev/placement"
	trainManager   = "oxgang.dev/scheduler"
	admissionGate  = "oxgang.dev/admission"
	admissionGates = "kueue.x-k8s.io/admission-gated-by"
)

// ErrManaged is returned for a job in a queue whose mode lets the scheduler start jobs.
var ErrManaged = errors.New("its queue starts jobs itself")

// A Release is a waiting job that `kubectl oxgang release` resumes without the scheduler.
type Release struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Kueue is true if the job is in a Kueue queue. Then Kueue resumes the job when it has quota.
	Kueue bool `json:"kueue,omitempty"`
}

// Waiting returns the suspended jobs that name a queue, in one namespace, or in all if it is empty.
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

// Release removes the scheduler's changes from a suspended job, and resumes it unless Kueue manages it. name may be
// "kind/name". It returns ErrManaged in modes Admit and Resize.
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

func resourceOf(kind string) string {
	i := slices.IndexFunc(kinds, func(k jobKind) bool { return k.kind == kind })
	return kinds[i].resource
}

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
	if _, started := labels[jobUID]; started && len(left) == len(gates) { // otherwise its pods waited for Pin
		unpin(spec)
	}
	for _, l := range []string{jobUID, generation, workers} {
		delete(labels, l)
	}
}

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
