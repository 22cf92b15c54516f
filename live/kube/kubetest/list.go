package kubetest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/oxgang/oxgang/live/kube/inventory"
)

type lookup struct {
	of    client.Object
	field string
	keys  client.IndexerFunc
}

func indexes() []lookup {
	return []lookup{{&corev1.Event{}, "reason", reason}, {&corev1.Pod{}, inventory.Index, inventory.Keys}}
}

type store struct{ clienttesting.ObjectTracker }

func (s store) Create(gvr schema.GroupVersionResource, o runtime.Object, namespace string, opts ...metav1.CreateOptions) error {
	return s.ObjectTracker.Create(gvr, sent(o), namespace, opts...)
}

func (s store) Update(gvr schema.GroupVersionResource, o runtime.Object, namespace string, opts ...metav1.UpdateOptions) error {
	return s.ObjectTracker.Update(gvr, sent(o), namespace, opts...)
}

func (s store) Patch(gvr schema.GroupVersionResource, o runtime.Object, namespace string, opts ...metav1.PatchOptions) error {
	return s.ObjectTracker.Patch(gvr, sent(o), namespace, opts...)
}

func sent(o runtime.Object) runtime.Object {
	if _, untyped := o.(runtime.Unstructured); untyped {
		return o
	}
	text, err := json.Marshal(o)
	must(err)
	came := reflect.New(reflect.TypeOf(o).Elem()).Interface()
	must(json.Unmarshal(text, came))
	return came.(runtime.Object) //nolint:forcetypeassert // it is of the type of o
}

type lister struct {
	client.WithWatch
	kept clienttesting.ObjectTracker
}

func (l *lister) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	switch list.(type) {
	case runtime.Unstructured, *metav1.PartialObjectMetadataList:
		return l.WithWatch.List(ctx, list, o...)
	}
	opts := new(client.ListOptions).ApplyOptions(o)
	all, err := l.all(list, opts.Namespace)
	if err != nil {
		return err
	}
	left := all[:0]
	for _, it := range all {
		if is, err := selects(opts, it.(client.Object)); err != nil { //nolint:forcetypeassert // the tracker keeps no others
			return err
		} else if is {
			left = append(left, it)
		}
	}
	return meta.SetList(list, left)
}

func (l *lister) all(list client.ObjectList, namespace string) ([]runtime.Object, error) {
	gvk, err := apiutil.GVKForObject(list, l.Scheme())
	if err != nil {
		return nil, err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	gvr, _ := meta.UnsafeGuessKindToResource(gvk)
	kept, err := l.kept.List(gvr, gvk, namespace)
	if err != nil {
		return nil, err
	}
	return meta.ExtractList(kept)
}

func selects(o *client.ListOptions, it client.Object) (bool, error) {
	if o.LabelSelector != nil && !o.LabelSelector.Matches(labels.Set(it.GetLabels())) {
		return false, nil
	}
	if o.FieldSelector == nil {
		return true, nil
	}
	for _, r := range o.FieldSelector.Requirements() {
		if is, err := has(it, &r); err != nil || !is {
			return false, err
		}
	}
	return true, nil
}

func has(it client.Object, r *fields.Requirement) (bool, error) {
	for _, x := range indexes() {
		if x.field == r.Field && fmt.Sprintf("%T", x.of) == fmt.Sprintf("%T", it) {
			return slices.Contains(x.keys(it), r.Value), nil
		}
	}
	return false, fmt.Errorf("no index of %T by %q", it, r.Field)
}
