package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An attempt is a request that admission has to judge. Nothing of it is stored.
type attempt struct {
	name   string
	who    identity
	verb   string // create, patch, delete, sweep, foreground, orphan, evict, ask, disturb or resize
	object string // YAML; of a patch: what is to be, by merging
	rule   string // the policy and the index of the validation that refuses it
	want   string // in the refusal
}

// try returns what the API server answers.
func (s *server) try(ctx context.Context, a *attempt) error {
	o, err := parse(a.object)
	if err != nil {
		return err
	}
	c := s.as(a.who)
	switch a.verb {
	case "create":
		return c.Create(ctx, o, client.DryRunAll)
	case "patch":
		return c.Patch(ctx, bare(o), merging(o), client.DryRunAll)
	case "delete":
		return c.Delete(ctx, bare(o), client.DryRunAll)
	case "sweep": // with what depends on it
		return c.Delete(ctx, bare(o), client.DryRunAll, client.PropagationPolicy("Background"))
	case "foreground":
		return c.Delete(ctx, bare(o), client.DryRunAll, client.PropagationPolicy("Foreground"))
	case "orphan":
		return c.Delete(ctx, bare(o), client.DryRunAll, client.PropagationPolicy("Orphan"))
	case "resize":
		return c.SubResource("resize").Patch(ctx, bare(o), merging(o), client.DryRunAll)
	case "evict":
		return c.SubResource("eviction").Create(ctx, bare(o), eviction(o), client.DryRunAll)
	case "ask": // by a dry run that the eviction says, as the scheduler does
		e := eviction(o)
		if err := unstructured.SetNestedStringSlice(e.Object, []string{"All"}, "deleteOptions", "dryRun"); err != nil {
			return err
		}
		return c.SubResource("eviction").Create(ctx, bare(o), e)
	case "disturb": // for good, but for a pod of another version: then admission is asked, and nothing done
		e := eviction(o)
		if err := unstructured.SetNestedField(e.Object, "1", "deleteOptions", "preconditions", "resourceVersion"); err != nil {
			return err
		}
		if err := c.SubResource("eviction").Create(ctx, bare(o), e); !apierrors.IsConflict(err) {
			return err
		}
		return nil
	}
	return fmt.Errorf("verb %q, want create, patch, delete, sweep, foreground, orphan, resize, evict, ask or disturb", a.verb)
}

func parse(text string) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		return nil, fmt.Errorf("%w in %s", err, text)
	}
	return o, nil
}

// bare returns an object that only says which it is.
func bare(o *unstructured.Unstructured) *unstructured.Unstructured {
	b := &unstructured.Unstructured{}
	b.SetGroupVersionKind(o.GroupVersionKind())
	b.SetNamespace(o.GetNamespace())
	b.SetName(o.GetName())
	return b
}

// merging returns the patch that o is.
func merging(o *unstructured.Unstructured) client.Patch {
	text, err := o.MarshalJSON()
	if err != nil {
		panic(err) // it came from JSON
	}
	return client.RawPatch(types.MergePatchType, text)
}

// eviction returns what is sent to evict a pod: with its labels and annotations.
func eviction(o *unstructured.Unstructured) *unstructured.Unstructured {
	e := &unstructured.Unstructured{Object: map[string]any{"metadata": maps.Clone(o.Object["metadata"].(map[string]any))}}
	e.SetAPIVersion("policy/v1")
	e.SetKind("Eviction")
	return e
}

// refused returns an error unless an attempt is refused, by its rule.
func (s *server) refused(ctx context.Context, a *attempt) error {
	err := s.try(ctx, a)
	policy, _, _ := strings.Cut(a.rule, "/")
	switch {
	case err == nil:
		return errors.New("it was accepted")
	case !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err):
		return fmt.Errorf("got %w, want 403 or 422", err)
	case !strings.Contains(err.Error(), "'"+policy+"'"):
		return fmt.Errorf("refused by another than %s: %w", policy, err)
	case !strings.Contains(err.Error(), a.want):
		return fmt.Errorf("got %w, want %q in it", err, a.want)
	}
	return nil
}

// suspends returns an error unless a job comes out of its creation suspended, or not.
func (s *server) suspends(ctx context.Context, object string, want bool) error {
	o, err := parse(object)
	if err != nil {
		return err
	}
	if err := s.as(tenant).Create(ctx, o, client.DryRunAll); err != nil {
		return err
	}
	if got, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend"); got != want {
		return fmt.Errorf("suspend: got %t, want %t", got, want)
	}
	if patches, _, _ := unstructured.NestedSlice(o.Object, "spec", "runtimePatches"); want && o.GetKind() == "TrainJob" && len(patches) != 1 {
		return fmt.Errorf("runtimePatches: got %v, want one for us to fill in", patches)
	}
	return nil
}
