package monitor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/oxgang/oxgang/internal/testdata"
)

// queried matches what a query reads.
var queried = regexp.MustCompile(`\boxgang_[a-z_]+\b`)

// unknown returns the metrics of a query that are not among names; parts of histograms count
// as their whole.
func unknown(query string, names []string) (bad []string) {
	for _, n := range queried.FindAllString(query, -1) {
		whole := n
		for _, part := range []string{"_bucket", "_sum", "_count"} {
			if w, cut := strings.CutSuffix(n, part); cut && !slices.Contains(names, n) {
				whole = w
			}
		}
		if !slices.Contains(names, whole) {
			bad = append(bad, n)
		}
	}
	return bad
}

func TestUnknown(t *testing.T) {
	known := []string{"oxgang_jobs", "oxgang_round_duration_seconds"}
	for query, want := range map[string]string{
		`sum(oxgang_jobs{queue="a"})`: "", `rate(oxgang_round_duration_seconds_bucket[5m])`: "", "up": "",
		`oxgang_job / oxgang_jobs`: "oxgang_job", `oxgang_jobs_seeded`: "oxgang_jobs_seeded",
	} {
		if got := strings.Join(unknown(query, known), " "); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
}

// A dashboard is what of one is checked.
type dashboard struct {
	Templating struct {
		List []struct{ Name, Type string }
	}
	Panels []struct {
		ID          int
		Type, Title string
		Datasource  struct{ UID string }
		GridPos     struct{ H, W, X, Y int }
		Targets     []struct {
			Expr       string
			Datasource struct{ UID string }
		}
	}
}

// check returns all that is wrong with a dashboard, given the names of the metrics.
func (d *dashboard) check(names []string) error {
	var errs []error
	if len(d.Templating.List) == 0 || d.Templating.List[0].Type != "datasource" || d.Templating.List[0].Name != "datasource" {
		errs = append(errs, errors.New("first variable, want the data source"))
	}
	ids := make(map[int]bool)
	for i, p := range d.Panels {
		if ids[p.ID] {
			errs = append(errs, fmt.Errorf("panel %q: number %d, want one of its own", p.Title, p.ID))
		}
		ids[p.ID] = true
		for _, o := range d.Panels[:i] {
			if a, b := p.GridPos, o.GridPos; a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				errs = append(errs, fmt.Errorf("panels %q and %q: one above the other", o.Title, p.Title))
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 {
			errs = append(errs, fmt.Errorf("panel %q: data source %q and %d queries, want the variable and one or more", p.Title, p.Datasource.UID, len(p.Targets)))
		}
		for _, q := range p.Targets {
			if bad := unknown(q.Expr, names); len(bad) > 0 || !queried.MatchString(q.Expr) || q.Datasource.UID != "${datasource}" {
				errs = append(errs, fmt.Errorf("panel %q: query %s, want metrics that there are, not %q", p.Title, q.Expr, bad))
			}
		}
	}
	return errors.Join(errs...)
}

func chart(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testdata.Root(t), "deploy", "charts", "oxgang", "dashboards", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestDashboard: its panels query metrics that there are, and all but those of single jobs
// and of the build are in some panel.
func TestDashboard(t *testing.T) {
	text, all := chart(t, "oxgang.json"), names(t)
	read := func(text string) (d dashboard) {
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := read(string(text))
	if err := d.check(all); err != nil {
		t.Error(err)
	}
	for _, n := range all {
		if !strings.Contains(string(text), n) && n != "oxgang_build_info" && !strings.HasPrefix(n, "oxgang_job_") {
			t.Errorf("%s: in no panel", n)
		}
	}
	for was, bug := range map[string]string{
		"oxgang_goodput_ratio": "oxgang_goodput", `"uid": "${datasource}"`: `"uid": "prometheus"`, `"name": "datasource"`: `"name": "source"`, `"id": 3,`: `"id": 2,`, `"w": 12,`: `"w": 13,`,
	} {
		if d := read(strings.ReplaceAll(string(text), was, bug)); d.check(all) == nil {
			t.Errorf("seeded %s for %s: passes", bug, was)
		}
	}
}

// TestAlerts: they read metrics that there are, and say what is wrong and where.
func TestAlerts(t *testing.T) {
	var rule struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Spec       struct {
			Groups []struct {
				Rules []struct {
					Alert, Expr         string
					Labels, Annotations map[string]string
				}
			}
		}
	}
	if err := yaml.Unmarshal(chart(t, "alerts.yaml"), &rule); err != nil {
		t.Fatal(err)
	}
	if rule.APIVersion != "monitoring.coreos.com/v1" || rule.Kind != "PrometheusRule" || len(rule.Spec.Groups) == 0 {
		t.Fatalf("%s %s of %d groups, want a PrometheusRule", rule.APIVersion, rule.Kind, len(rule.Spec.Groups))
	}
	all := names(t)
	for _, r := range rule.Spec.Groups[0].Rules {
		if bad := unknown(r.Expr, all); len(bad) > 0 || !queried.MatchString(r.Expr) {
			t.Errorf("%s: %s reads %q, which there is not", r.Alert, r.Expr, bad)
		}
		if r.Labels["severity"] == "" || !strings.Contains(r.Annotations["summary"], "$labels.queue") || r.Annotations["description"] == "" {
			t.Errorf("%s: want a severity, a summary with the queue, and a description", r.Alert)
		}
	}
	if n := len(rule.Spec.Groups[0].Rules); n < 4 {
		t.Errorf("%d alerts, want 4", n)
	}
}
