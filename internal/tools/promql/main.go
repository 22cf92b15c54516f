// Command promql parses the queries of the Grafana dashboard and of the alerts with the parser of Prometheus. It is a
// separate module, because Prometheus requires many others. That the metrics exist is tested in live/monitor.
//
// Usage: promql DASHBOARD.json ALERTS.yaml
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

// variables are values for what Grafana replaces in a query.
var variables = strings.NewReplacer("$__rate_interval", "5m", "$queue", "default")

func main() {
	queries, err := read(os.Args[1], os.Args[2])
	for _, q := range queries {
		if _, wrong := parser.NewParser(parser.Options{}).ParseExpr(variables.Replace(q)); wrong != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", q, wrong))
		}
	}
	if err == nil && len(queries) < 20 {
		err = fmt.Errorf("%d queries, want 20 at least", len(queries))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "promql:", err)
		os.Exit(1)
	}
}

func read(dashboard, alerts string) (queries []string, err error) {
	var d struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	var a struct {
		Spec struct {
			Groups []struct{ Rules []struct{ Expr string } }
		}
	}
	text, err := os.ReadFile(dashboard)
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	rules, err2 := os.ReadFile(alerts)
	if err2 == nil {
		err2 = yaml.Unmarshal(rules, &a)
	}
	for _, p := range d.Panels {
		for _, t := range p.Targets {
			queries = append(queries, t.Expr)
		}
	}
	for _, g := range a.Spec.Groups {
		for _, r := range g.Rules {
			queries = append(queries, r.Expr)
		}
	}
	return queries, errors.Join(err, err2)
}
