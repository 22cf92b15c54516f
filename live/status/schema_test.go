package status

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/testdata"
)

var update = flag.Bool("update", false, "write docs/status.schema.json")

// docs/status.schema.json describes the type: each field, its kind, and whether it is always there.
func TestSchema(t *testing.T) {
	defs := map[string]any{}
	ref(reflect.TypeFor[Status](), defs)
	ref(reflect.TypeFor[Timeline](), defs)
	schema := map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://oxgang.dev/schemas/status.schema.json",
		"title":       "Oxgang status: what a scheduler does at one time",
		"description": "Version " + version + ". Written by -o json of jobs, top, kubectl jobs, kubectl top and slurm observe, and read by the page. Timeline is the past of the jobs, which the page reads from /api/timeline. package live/status describes the fields. New fields may come in the same version.",
		"$ref":        "#/$defs/Status", "$defs": defs,
	}
	want, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(testdata.Root(t), "docs", "status.schema.json")
	if want = append(want, '\n'); *update {
		if err := os.WriteFile(path, want, 0o644); err != nil { //nolint:gosec // a document
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v: %s differs from the type: go test ./live/status -update writes it", err, path)
	}
}

// ref returns the schema of a type, and adds what it refers to.
func ref(of reflect.Type, defs map[string]any) map[string]any {
	switch of.Kind() {
	case reflect.Pointer:
		return ref(of.Elem(), defs)
	case reflect.Slice:
		return map[string]any{"type": "array", "items": ref(of.Elem(), defs)}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	default:
	}
	if of == reflect.TypeFor[time.Time]() {
		return map[string]any{"type": "string", "format": "date-time"}
	}
	if _, known := defs[of.Name()]; !known {
		defs[of.Name()] = nil // it may refer to itself
		defs[of.Name()] = object(of, defs)
	}
	return map[string]any{"$ref": "#/$defs/" + of.Name()}
}

func object(of reflect.Type, defs map[string]any) map[string]any {
	properties, required := map[string]any{}, []string{}
	for f := range of.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		properties[name] = ref(f.Type, defs)
		if options == "" {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}
