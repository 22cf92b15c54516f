package jobadapter

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/model/cluster"
)

func typesOf(p *corev1.PodSpec, o *Options) ([]cluster.GPUType, error) {
	var all set
	for _, label := range o.TypeLabels {
		if value, ok := p.NodeSelector[label]; ok {
			t, err := typeOf(value, o)
			if err != nil {
				return nil, err
			}
			all = all.and(t)
		}
	}
	either, err := anyTerm(p.Affinity, o)
	if err != nil {
		return nil, err
	}
	if either.known {
		all = all.and(either.types...)
	}
	switch {
	case !all.known:
		return nil, nil
	case len(all.types) == 0:
		return nil, errors.New("its nodeSelector and node affinity allow no GPU type, want at least 1")
	}
	return all.types, nil
}

type set struct {
	types []cluster.GPUType
	known bool
}

func (s set) and(types ...cluster.GPUType) set {
	if !s.known {
		return set{types, true}
	}
	return set{slices.DeleteFunc(slices.Clone(s.types), func(t cluster.GPUType) bool { return !slices.Contains(types, t) }), true}
}

func anyTerm(a *corev1.Affinity, o *Options) (set, error) {
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return set{}, nil
	}
	either := set{known: true}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		one, err := everyExpression(term.MatchExpressions, o)
		if err != nil {
			return set{}, err
		}
		either.known = either.known && one.known
		for _, t := range one.types {
			if !slices.Contains(either.types, t) {
				either.types = append(either.types, t)
			}
		}
	}
	return either, nil
}

func everyExpression(all []corev1.NodeSelectorRequirement, o *Options) (set, error) {
	var both set
	for _, e := range all {
		if !slices.Contains(o.TypeLabels, e.Key) || e.Operator == corev1.NodeSelectorOpExists {
			continue
		}
		if e.Operator != corev1.NodeSelectorOpIn {
			return set{}, fmt.Errorf("node affinity: %s %s, want In: the scheduler chooses among named GPU types", e.Key, e.Operator)
		}
		var types []cluster.GPUType
		for _, value := range e.Values {
			t, err := typeOf(value, o)
			if err != nil {
				return set{}, err
			}
			types = append(types, t)
		}
		both = both.and(types...)
	}
	return both, nil
}

func typeOf(value string, o *Options) (cluster.GPUType, error) {
	if t := inventory.TypeName(value, o.Names); t != "" {
		return t, nil
	}
	return "", fmt.Errorf("node label %.70q, want the name of a GPU type", value)
}
