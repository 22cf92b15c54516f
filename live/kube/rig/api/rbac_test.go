package api

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/rig"
)

var update = flag.Bool("update", false, "write the golden files of testdata")

// TestRules: what each part may do is what testdata/rbac.golden says, and with everything
// switched on testdata/rbac-full.golden. Who changes it sees it in the difference.
func TestRules(t *testing.T) {
	isGolden(t, install, "testdata/rbac.golden")
	isGolden(t, "testdata/full.yaml", "testdata/rbac-full.golden")
}

// isGolden compares what the roles of a file allow with what another says.
func isGolden(t *testing.T, file, golden string) {
	t.Helper()
	got := rules(t, file)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s\n(go test -update writes %s)", got, want, golden)
	}
	for _, complaint := range excessive(got) {
		t.Error(complaint)
	}
}

// rules returns what the roles of a file allow, a line for each resource.
func rules(t *testing.T, file string) string {
	t.Helper()
	all, err := rig.ReadObjects(file)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, o := range all {
		if o.GetKind() != "ClusterRole" && o.GetKind() != "Role" {
			continue
		}
		var r rbacv1.ClusterRole
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &r); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\n", o.GetKind(), r.Name)
		for i := range r.Rules {
			writeRule(&b, &r.Rules[i])
		}
	}
	return b.String()
}

func writeRule(b *strings.Builder, r *rbacv1.PolicyRule) {
	for _, url := range r.NonResourceURLs {
		fmt.Fprintf(b, "  %s: %s\n", url, strings.Join(r.Verbs, " "))
	}
	for _, group := range r.APIGroups {
		for _, resource := range r.Resources {
			name := strings.TrimPrefix(group+"/"+resource, "/")
			if len(r.ResourceNames) > 0 {
				name += " " + strings.Join(r.ResourceNames, ",")
			}
			fmt.Fprintf(b, "  %s: %s\n", name, strings.Join(r.Verbs, " "))
		}
	}
}

// excessive returns what no role of the chart may allow.
func excessive(rules string) []string {
	var all []string
	role := ""
	for line := range strings.Lines(rules) {
		line = strings.TrimSpace(line)
		resource, verbs, isRule := strings.Cut(line, ": ")
		if !isRule {
			role = line
			continue
		}
		on := strings.Fields(resource)[0]
		switch {
		case strings.Contains(line, "*"):
			all = append(all, fmt.Sprintf("%s: %s: no role has wildcards", role, line))
		case on == "secrets" || on == "serviceaccounts/token" || strings.HasPrefix(on, "rbac.authorization.k8s.io/"):
			all = append(all, fmt.Sprintf("%s: %s: no role touches these", role, line))
		case on == "pods" && slices.ContainsFunc(strings.Fields(verbs), func(v string) bool { return v != "get" && v != "list" && v != "watch" && v != "patch" }):
			all = append(all, fmt.Sprintf("%s: %s: pods are only read and patched", role, line))
		case role == "ClusterRole oxgang-nodegroups" && on != "nodes" && (!strings.HasSuffix(on, "/scale") || verbs != "get patch"):
			all = append(all, fmt.Sprintf("%s: %s: of what makes nodes only the scale is read and patched", role, line))
		case on == "oxgang.dev/plans" && strings.Contains(verbs, "create") && role != "ClusterRole oxgang-recommend":
			all = append(all, fmt.Sprintf("%s: %s: only the role of mode Recommend writes plans", role, line))
		}
	}
	return all
}

// TestExcessive: each of the limits is seen to be crossed.
func TestExcessive(t *testing.T) {
	good := rules(t, install)
	for _, line := range []string{
		"pods: get delete", "pods: deletecollection", "secrets: get", "secrets x: get", "nodes: *", "*/*: get",
		"oxgang.dev/plans: create", "serviceaccounts/token: create", "karpenter.sh/nodepools: get", "karpenter.sh/nodepools/scale: update",
		"cluster.x-k8s.io/machines x: delete", "rbac.authorization.k8s.io/roles: escalate",
	} {
		if got := excessive(good + "ClusterRole oxgang-nodegroups\n  " + line + "\n"); len(got) != 1 {
			t.Errorf("%s: got complaints %q, want one", line, got)
		}
	}
}

// A right is whether somebody may do something.
type right struct {
	who       string // see people
	verb      string
	resource  string // group/resource/subresource; group core is left out
	namespace string
	name      string
	want      bool
}

var people = map[string]identity{
	"tenant": tenant, "outsider": outsider, "scheduler": scheduler,
	"viewer": {user: "vera"}, "editor": {user: "eddie"}, "admin": {user: "ada"},
}

// TestMatrix: the API server's own answers, for what people and parts may do and may not.
func TestMatrix(t *testing.T) {
	s := theServer(t)
	for _, r := range matrix() {
		who := people[r.who]
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: who.user, Groups: append([]string{"system:authenticated"}, who.groups...),
			ResourceAttributes: attributes(&r),
		}}
		if err := s.admin.Create(t.Context(), review); err != nil {
			t.Fatal(err)
		}
		if review.Status.Allowed != r.want {
			t.Errorf("%s %s %s %s in %q: got %t, want %t", r.who, r.verb, r.resource, r.name, r.namespace, review.Status.Allowed, r.want)
		}
	}
}

// attributes returns what a right is about, as the API server says it.
func attributes(r *right) *authorizationv1.ResourceAttributes {
	parts := strings.Split(r.resource, "/")
	a := &authorizationv1.ResourceAttributes{Verb: r.verb, Namespace: r.namespace, Name: r.name}
	if strings.Contains(parts[0], ".") || parts[0] == "batch" || parts[0] == "policy" {
		a.Group, parts = parts[0], parts[1:]
	}
	a.Resource = parts[0]
	if len(parts) > 1 {
		a.Subresource = parts[1]
	}
	return a
}

// TestTrust: by server-side apply the scheduler makes the one ConfigMap that it may, where
// there is none; no other, and not in another way.
func TestTrust(t *testing.T) {
	s := theServer(t)
	c := s.as(scheduler)
	bundle := func(name string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"ca.crt": "x"}}}
		o.SetAPIVersion("v1")
		o.SetKind("ConfigMap")
		o.SetNamespace("team-b")
		o.SetName(name)
		return o
	}
	apply := func(name string) error {
		return c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(bundle(name)), client.FieldOwner("oxgang"), client.DryRunAll)
	}
	if err := apply("oxgang-agents-ca"); err != nil {
		t.Error(err)
	}
	if err := apply("other"); !apierrors.IsForbidden(err) {
		t.Errorf("another ConfigMap: got %v, want 403", err)
	}
	if err := c.Create(t.Context(), bundle("other"), client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Errorf("another ConfigMap, created: got %v, want 403", err)
	}
}
