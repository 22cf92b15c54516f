package monitor

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/oxgang/oxgang/internal/testdata"
)

// documents returns the objects of a YAML file of the repository, by kind and name.
func documents(t *testing.T, path ...string) map[string]map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{testdata.Root(t)}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]map[string]any)
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var o map[string]any
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if meta, is := o["metadata"].(map[string]any); is {
			all[o["kind"].(string)+" "+meta["name"].(string)] = o
		}
	}
}

// The chart installs the alerts and the dashboard that the other tests check, if it is asked to; by
// itself it installs neither.
func TestChart_installs_alerts_and_dashboard(t *testing.T) {
	const rule, shown = "PrometheusRule oxgang", "ConfigMap oxgang-dashboard"
	without := documents(t, "deploy", "dist", "install.yaml")
	if without[rule] != nil || without[shown] != nil || len(without) < 10 {
		t.Errorf("by itself it installs alerts: %v, a dashboard: %v, want neither", without[rule] != nil, without[shown] != nil)
	}
	with := documents(t, "live", "kube", "rig", "api", "testdata", "full.yaml")
	alerts := documents(t, "deploy", "charts", "oxgang", "dashboards", "alerts.yaml")[rule]
	if with[rule] == nil || !reflect.DeepEqual(with[rule]["spec"], alerts["spec"]) {
		t.Errorf("alerts %v, want those of deploy/charts/oxgang/dashboards/alerts.yaml", with[rule])
	}
	data, _ := with[shown]["data"].(map[string]any)
	text, _ := data["oxgang.json"].(string)
	file, err := os.ReadFile(filepath.Join(testdata.Root(t), "deploy", "charts", "oxgang", "dashboards", "oxgang.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := errors.Join(json.Unmarshal([]byte(text), &got), json.Unmarshal(file, &want)); err != nil {
		t.Fatal(err)
	}
	if labels, _ := with[shown]["metadata"].(map[string]any)["labels"].(map[string]any); !reflect.DeepEqual(got, want) || labels["grafana_dashboard"] != "1" {
		t.Errorf("a dashboard with labels %v, want deploy/charts/oxgang/dashboards/oxgang.json with the label of Grafana's sidecar", labels)
	}
}
