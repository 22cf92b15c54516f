package manager

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/policy/registry"
)

func rents(q *v1alpha1.Queue, older []*v1alpha1.Queue) string {
	entry, err := registry.Find(q.Spec.Policy.Name)
	if err != nil {
		return err.Error()
	}
	if why := budgetProblem(q, &entry); why != "" {
		return why
	}
	p, err := entry.New(settings(q))
	if err != nil {
		return err.Error()
	}
	if len(q.Spec.NodeGroups) > 0 && !p.Traits().Rents {
		return fmt.Sprintf("spec.nodeGroups: policy %s does not rent nodes, want oxgang, boa or pollux-autoscale", entry.Name)
	}
	for i := range q.Spec.NodeGroups {
		if why := groupProblem(q, i, older); why != "" {
			return why
		}
	}
	return ""
}

func budgetProblem(q *v1alpha1.Queue, entry *registry.Entry) string {
	_, twice := q.Spec.Policy.Settings["budget"]
	switch {
	case q.Spec.Budget == nil:
	case !slices.Contains(entry.SettingNames(), "budget"):
		return fmt.Sprintf("spec.budget: policy %s has no budget, want oxgang or boa, or no budget", entry.Name)
	case len(q.Spec.NodeGroups) == 0:
		return "spec.budget needs spec.nodeGroups: add some, or remove the budget"
	case twice:
		return "spec.budget and the policy's setting budget are both set, want one of them"
	}
	return ""
}

func groupProblem(q *v1alpha1.Queue, i int, older []*v1alpha1.Queue) string {
	g := &q.Spec.NodeGroups[i]
	for _, k := range slices.Sorted(maps.Keys(q.Spec.NodeSelector)) {
		if v := q.Spec.NodeSelector[k]; g.NodeSelector[k] != v {
			return fmt.Sprintf("spec.nodeGroups: %s: add %s: %s to its nodeSelector, as in the queue's nodeSelector", g.Name, k, v)
		}
	}
	for j := range i {
		if q.Spec.NodeGroups[j].Scales == g.Scales {
			return fmt.Sprintf("spec.nodeGroups: %s: %s %s is also scaled by group %s, want it in one group", g.Name, g.Scales.Kind, g.Scales.Name, q.Spec.NodeGroups[j].Name)
		}
	}
	for _, o := range older {
		if slices.ContainsFunc(o.Spec.NodeGroups, func(other v1alpha1.NodeGroup) bool { return other.Scales == g.Scales }) {
			return fmt.Sprintf("spec.nodeGroups: %s: %s %s is also scaled by the older queue %s", g.Name, g.Scales.Kind, g.Scales.Name, o.Name)
		}
	}
	return ""
}

func settings(q *v1alpha1.Queue) map[string]string {
	all := make(map[string]string)
	if q.Spec.Policy.Name == "oxgang" {
		oxgang(q, all)
	}
	maps.Copy(all, q.Spec.Policy.Settings)
	if q.Spec.Budget != nil {
		all["budget"], all["unit"] = strconv.FormatFloat(perHour(q.Spec.Budget), 'f', -1, 64), "money"
	}
	return all
}

// Stated sizes are not trusted, because tenants would gain from understating them. Namespaces have shares by weight.
// Without a budget, rentable nodes are used without limit.
func oxgang(q *v1alpha1.Queue, all map[string]string) {
	all["sizes"], all["guarantee"] = "class", "user"
	if len(q.Spec.NodeGroups) > 0 {
		all["budget"] = "0"
	}
}

func perHour(b *v1alpha1.Budget) float64 { return float64(b.MilliPerHour) / 1000 }
