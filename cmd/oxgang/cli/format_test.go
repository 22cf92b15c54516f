package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type written struct {
	Name  string     `json:"name"`
	GPUs  int        `json:"gpus"`
	At    time.Time  `json:"at,omitzero"`
	Ended *time.Time `json:"ended,omitempty"`
	Args  []string   `json:"args"`
	note  string
}

// All formats have the same words; what is not known is an empty cell, and no cell is a formula.
func TestWrite(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	rows := []written{{Name: "=a\n", GPUs: 2, At: at, Ended: &at, Args: []string{"x", "y"}, note: "-"}, {Name: "b"}}
	for format, want := range map[string]string{
		"csv":  "name,gpus,at,ended,args\n'=a\\n,2,2026-01-02T03:04:05Z,2026-01-02T03:04:05Z,\"[\"\"x\"\",\"\"y\"\"]\"\nb,0,,,\n",
		"yaml": "- name: |\n    =a\n  gpus: 2\n  at: \"2026-01-02T03:04:05Z\"\n  ended: \"2026-01-02T03:04:05Z\"\n  args:\n    - x\n    - \"y\"\n- name: b\n  gpus: 0\n  args: null\n",
	} {
		var b strings.Builder
		if err := Write(&b, format, rows); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
	if err := Write(new(strings.Builder), "csv", rows[0]); err == nil || !strings.Contains(err.Error(), "want a slice of structs") {
		t.Errorf("csv of one struct: got %v, want an error", err)
	}
	if err := CheckOutput("xml", "table", "json", "csv"); err == nil || err.Error() != `output "xml", want table, json or csv` {
		t.Errorf("got %v", err)
	}
}
