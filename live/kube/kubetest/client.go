package kubetest

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// A Call is a request to the API server.
type Call struct {
	Verb   string
	Object client.Object
	Right  string // such as "update plans/status"
}

// Writes reports whether a call may change anything.
func (c *Call) Writes() bool { return c.Verb != "get" && c.Verb != "evict" }

// Direct returns a reader of the API server.
func (t *Cluster) Direct() client.Reader {
	return interceptor.NewClient(t.guarded(), interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
		o := new(client.ListOptions).ApplyOptions(opts)
		if err := c.List(ctx, list, opts...); err != nil {
			return err
		}
		if t.Listed != nil {
			t.Listed(list, o)
		}
		return nil
	}})
}

// Client returns a client that writes to the API server and reads from watches.
func (t *Cluster) Client() client.Client { return &watching{t.guarded(), t} }

// Hold freezes the watches until Release.
func (t *Cluster) Hold() { t.show(map[string]client.ObjectList{}) }

// Release makes watches current again.
func (t *Cluster) Release() { t.show(nil) }

func (t *Cluster) show(late map[string]client.ObjectList) {
	t.watches.Lock()
	defer t.watches.Unlock()
	t.late = late
}

type watching struct {
	client.WithWatch
	t *Cluster
}

func (w *watching) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	w.t.watches.Lock()
	defer w.t.watches.Unlock()
	if w.t.late == nil {
		return w.WithWatch.List(ctx, list, o...)
	}
	key := fmt.Sprintf("%T %s %+v", list, list.GetObjectKind().GroupVersionKind(), new(client.ListOptions).ApplyOptions(o).FieldSelector)
	if old, held := w.t.late[key]; held {
		reflect.ValueOf(list).Elem().Set(reflect.ValueOf(old.DeepCopyObject()).Elem())
		return nil
	}
	if err := w.WithWatch.List(ctx, list, o...); err != nil {
		return err
	}
	w.t.late[key] = list.DeepCopyObject().(client.ObjectList) //nolint:forcetypeassert // a copy is of the same type
	return nil
}

func (t *Cluster) guarded() client.WithWatch {
	return interceptor.NewClient(t.truth, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			return t.call("get", "get", o, func() error { return c.Get(ctx, k, o, opts...) })
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return t.call("create", "create", o, func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return t.call("update", "update", o, func() error { return c.Update(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return t.call("patch", "patch", o, func() error { return c.Patch(ctx, o, p, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return t.call("status", "update /"+sub, o, func() error { return c.SubResource(sub).Update(ctx, o, opts...) })
		},
		SubResourceGet: func(_ context.Context, _ client.Client, _ string, o, scale client.Object, _ ...client.SubResourceGetOption) error {
			return t.call("get", "get /scale", o, func() error { return t.getScale(o, scale) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			if sub == "scale" {
				return t.call("scale", "patch /scale", o, func() error { return t.patchScale(o, p) })
			}
			return t.call(sub, "patch /"+sub, o, func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
		SubResourceCreate: func(_ context.Context, _ client.Client, _ string, o, _ client.Object, _ ...client.SubResourceCreateOption) error {
			return t.call("evict", "create /eviction", o, func() error { return t.mayEvict(o) })
		},
	})
}

// A failed write or a lost response does not change the caller's object, as with a real client.
func (t *Cluster) call(verb, right string, o client.Object, do func() error) error {
	c := &Call{verb, o, t.right(right, o)}
	if t.Before != nil {
		if err := t.Before(c); err != nil {
			return err
		}
	}
	asked := o.DeepCopyObject()
	if err := do(); err != nil {
		return err
	}
	if p, plan := o.(*v1alpha1.Plan); plan && verb == "update" || plan && verb == "create" {
		t.checkPlan(p)
	} else if c.Writes() {
		t.checkNodes()
		t.checkLoans()
	}
	if t.After == nil {
		return nil
	}
	err := t.After(c)
	if err != nil {
		restore(o, asked.(client.Object)) //nolint:forcetypeassert // a copy is of the same type
	}
	return err
}

func (t *Cluster) right(of string, o client.Object) string {
	verb, sub, _ := strings.Cut(of, " ")
	gvk, err := t.truth.GroupVersionKindFor(o)
	must(err)
	return verb + " " + strings.ToLower(gvk.Kind) + "s" + sub
}

func restore(o, old client.Object) {
	if u, ok := o.(*unstructured.Unstructured); ok {
		u.Object = old.(*unstructured.Unstructured).Object //nolint:forcetypeassert // a copy is of the same type
		return
	}
	reflect.ValueOf(o).Elem().Set(reflect.ValueOf(old).Elem())
}

func (t *Cluster) mayEvict(p client.Object) error {
	var all policyv1.PodDisruptionBudgetList
	must(t.truth.List(context.Background(), &all, client.InNamespace(p.GetNamespace())))
	for i := range all.Items {
		s, err := metav1.LabelSelectorAsSelector(all.Items[i].Spec.Selector)
		must(err)
		if s.Matches(labels.Set(p.GetLabels())) && all.Items[i].Status.DisruptionsAllowed < 1 {
			return apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
		}
	}
	return nil
}
