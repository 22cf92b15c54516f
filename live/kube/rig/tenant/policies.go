package tenant

import (
	"context"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/rig"
)

// Policies are ValidatingAdmissionPolicies, evaluated with the API server's code. Parameters are objects of the kind
// Queue; policies with a Plan as parameter apply only to the scheduler and are left out.
type Policies []rules

type rules struct {
	*admissionv1.ValidatingAdmissionPolicy
	validator validating.Validator
}

// A Request is a write of a user. Old is nil for a create, New for a delete.
type Request struct {
	User        string
	Operation   admission.Operation
	Resource    schema.GroupVersionResource
	Subresource string
	Old, New    client.Object
	Options     runtime.Object
}

// ReadPolicies reads the policies in YAML files. Rules named in without (policy/index of the rule) allow everything.
func ReadPolicies(without []string, files ...string) (Policies, error) {
	objects, err := rig.ReadObjects(files...)
	if err != nil {
		return nil, err
	}
	byName := map[string]*admissionv1.ValidatingAdmissionPolicy{}
	for _, o := range objects {
		if o.GetKind() != "ValidatingAdmissionPolicy" || byName[o.GetName()] != nil {
			continue
		}
		p := new(admissionv1.ValidatingAdmissionPolicy)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, p); err != nil {
			return nil, fmt.Errorf("policy %s: %w", o.GetName(), err)
		}
		byName[p.Name] = p
	}
	var all Policies
	for name, p := range byName {
		if p.Spec.ParamKind != nil && p.Spec.ParamKind.Kind != "Queue" {
			continue
		}
		for i := range p.Spec.Validations {
			if slices.Contains(without, fmt.Sprintf("%s/%d", name, i)) {
				p.Spec.Validations[i].Expression = "true"
			}
		}
		one, err := compile(p)
		if err != nil {
			return nil, fmt.Errorf("policy %s: %w", name, err)
		}
		all = append(all, rules{p, one})
	}
	return all, nil
}

func compile(p *admissionv1.ValidatingAdmissionPolicy) (validating.Validator, error) {
	compiler, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return nil, err
	}
	with := cel.OptionalVariableDeclarations{HasParams: p.Spec.ParamKind != nil, HasAuthorizer: true}
	var variables []cel.NamedExpressionAccessor
	for _, v := range p.Spec.Variables {
		variables = append(variables, &validating.Variable{Name: v.Name, Expression: v.Expression})
	}
	compiler.CompileAndStoreVariables(variables, with, environment.StoredExpressions)
	var conditions, rules []cel.ExpressionAccessor
	for i := range p.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&p.Spec.MatchConditions[i]))
	}
	for _, v := range p.Spec.Validations {
		rules = append(rules, &validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason})
	}
	matcher := matchconditions.NewMatcher(compiler.CompileCondition(conditions, with, environment.StoredExpressions), p.Spec.FailurePolicy, "policy", "validate", p.Name)
	compiled := compiler.CompileCondition(rules, with, environment.StoredExpressions)
	none := compiler.CompileCondition(nil, with, environment.StoredExpressions)
	return validating.NewValidator(compiled, matcher, none, none, p.Spec.FailurePolicy, nil), nil
}

// Admit returns an error that names the policy and rule by which a request is refused; nil: it is accepted.
func (all Policies) Admit(ctx context.Context, r *Request, queues ...*unstructured.Unstructured) error {
	for i := range all {
		p := &all[i]
		if !p.matches(r) {
			continue
		}
		if p.Spec.ParamKind == nil {
			if err := p.validate(ctx, r, nil); err != nil {
				return err
			}
			continue
		}
		for _, q := range queues {
			if err := p.validate(ctx, r, q); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *rules) matches(r *Request) bool {
	m := p.Spec.MatchConstraints
	name := r.Resource.Resource
	if r.Subresource != "" {
		name += "/" + r.Subresource
	}
	rule := slices.ContainsFunc(m.ResourceRules, func(a admissionv1.NamedRuleWithOperations) bool {
		return slices.Contains(a.APIGroups, r.Resource.Group) && slices.Contains(a.Resources, name) && slices.Contains(a.Operations, admissionv1.OperationType(r.Operation))
	})
	if !rule || m.ObjectSelector == nil {
		return rule
	}
	s, err := metav1.LabelSelectorAsSelector(m.ObjectSelector)
	return err == nil && slices.ContainsFunc([]client.Object{r.Old, r.New}, func(o client.Object) bool { return o != nil && s.Matches(labels.Set(o.GetLabels())) })
}

func (p *rules) validate(ctx context.Context, r *Request, param *unstructured.Unstructured) error {
	from := r.New
	if from == nil {
		from = r.Old
	}
	gvk := from.GetObjectKind().GroupVersionKind()
	who := &user.DefaultInfo{Name: r.User}
	attributes := admission.NewAttributesRecord(object(r.New), object(r.Old), gvk, from.GetNamespace(), from.GetName(), r.Resource, r.Subresource, r.Operation, r.Options, false, who)
	versioned := &admission.VersionedAttributes{Attributes: attributes, VersionedKind: gvk, VersionedObject: object(r.New), VersionedOldObject: object(r.Old)}
	var params runtime.Object
	if param != nil {
		params = param
	}
	for i, d := range p.validator.Validate(ctx, r.Resource, versioned, params, nil, celconfig.RuntimeCELCostBudget, nil).Decisions {
		if d.Action == validating.ActionDeny {
			return fmt.Errorf("denied by %s/%d: %s", p.Name, i, d.Message)
		}
	}
	return nil
}

func object(o client.Object) runtime.Object {
	if o == nil {
		return nil
	}
	return o
}
