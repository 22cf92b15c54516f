package agentapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A schema is the part of JSON Schema that live/agentapi/agent.yaml uses.
type schema struct {
	Ref        string             `yaml:"$ref"`
	Type       any                `yaml:"type"` // a string or a list of them
	Properties map[string]*schema `yaml:"properties"`
	Required   []string           `yaml:"required"`
	Closed     *bool              `yaml:"additionalProperties"`
	Items      *schema            `yaml:"items"`
	OneOf      []*schema          `yaml:"oneOf"`
	Minimum    *float64           `yaml:"minimum"`
	Maximum    *float64           `yaml:"maximum"`
}

// A contract is what a test reads of live/agentapi/agent.yaml.
type contract struct {
	OpenAPI    string                    `yaml:"openapi"`
	Paths      map[string]map[string]any `yaml:"paths"`
	Components struct {
		Schemas map[string]*schema `yaml:"schemas"`
	} `yaml:"components"`
}

func readContract(t *testing.T) *contract {
	t.Helper()
	text, err := os.ReadFile("agent.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := new(contract)
	if err := yaml.Unmarshal(text, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// resolve returns the schema that s stands for, and whether it may be null.
func (c *contract) resolve(s *schema) (of *schema, null bool) {
	if len(s.OneOf) == 2 && s.OneOf[1].Type == "null" {
		of, _ = c.resolve(s.OneOf[0])
		return of, true
	}
	if s.Ref != "" {
		return c.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")], false
	}
	if two, ok := s.Type.([]any); ok && len(two) == 2 && two[1] == "null" {
		plain := *s
		plain.Type = two[0]
		return &plain, true
	}
	return s, false
}

// openapiType is what JSON Schema calls the JSON types.
var openapiType = map[jsonType]string{object: "object", list: "array", text: "string", yesNo: "boolean", whole: "integer", float: "number"}

// compare returns how a schema differs from the shape of a Go type.
func (c *contract) compare(name string, s *schema, of *shape) []string {
	var all []string
	bad := func(format string, args ...any) { all = append(all, name+": "+fmt.Sprintf(format, args...)) }
	s, null := c.resolve(s)
	if s == nil {
		return []string{name + ": no such schema"}
	}
	if null != of.nullable {
		bad("null in YAML %v, in Go %v", null, of.nullable)
	}
	if s.Type != openapiType[of.json] {
		bad("type %v in YAML, in Go %v", s.Type, of.json)
		return all
	}
	if of.json == list {
		return append(all, c.compare(name+"[]", s.Items, of.element)...)
	}
	if of.json != object {
		return all
	}
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		child := of.fields[key]
		if child == nil {
			bad("%s is not in Go", key)
			continue
		}
		if required := slices.Contains(s.Required, key); required != child.required {
			bad("%s required in YAML %v, in Go %v", key, required, child.required)
		}
		all = append(all, c.compare(name+"."+key, s.Properties[key], child)...)
	}
	for _, key := range of.keys {
		if s.Properties[key] == nil {
			bad("%s is not in YAML", key)
		}
	}
	return all
}

// types are the Go types of the schemas.
var types = map[string]reflect.Type{
	"Hello": reflect.TypeFor[Hello](), "Welcome": reflect.TypeFor[Welcome](), "Report": reflect.TypeFor[Report](),
	"Answer": reflect.TypeFor[Answer](), "Checkpoint": reflect.TypeFor[Checkpoint](), "Empty": reflect.TypeFor[Empty](),
	"Error": reflect.TypeFor[Error](), "Batch": reflect.TypeFor[Batch](), "BatchLimits": reflect.TypeFor[BatchLimits](),
	"Regime": reflect.TypeFor[regime](), "Restored": reflect.TypeFor[Restored](), "Notice": reflect.TypeFor[Notice](),
}

func (c *contract) differences() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(types)) {
		all = append(all, c.compare(name, &schema{Ref: "#/components/schemas/" + name}, shapeOf(types[name]))...)
	}
	for name := range c.Components.Schemas {
		if types[name] == nil {
			all = append(all, name+": is not in Go")
		}
	}
	return all
}

// The contract and the Go types have the same keys, of the same types, required alike.
func TestContract(t *testing.T) {
	c := readContract(t)
	if c.OpenAPI != "3.1.0" {
		t.Errorf("OpenAPI %q, want 3.1.0", c.OpenAPI)
	}
	for _, d := range c.differences() {
		t.Error(d)
	}
	if got, want := slices.Sorted(maps.Keys(c.Paths)), slices.Sorted(maps.Keys(endpoints)); !slices.Equal(got, want) {
		t.Errorf("paths %q in YAML, in Go %q", got, want)
	}
	for path, methods := range c.Paths {
		if len(methods) != 1 || methods["post"] == nil {
			t.Errorf("%s: methods %v, want post only", path, methods)
		}
	}
	for _, name := range []string{"Hello", "Report", "Checkpoint", "BatchLimits", "Regime", "Restored", "Batch"} {
		if closed := c.Components.Schemas[name].Closed; closed == nil || *closed {
			t.Errorf("%s: other keys are allowed, want additionalProperties: false", name)
		}
	}
}

// The comparison sees seeded differences.
func TestContract_differs(t *testing.T) {
	for want, change := range map[string]func(map[string]*schema){
		"Report: step is not in YAML":                            func(s map[string]*schema) { delete(s["Report"].Properties, "step") },
		"Report: job is not in Go":                               func(s map[string]*schema) { s["Report"].Properties["job"] = &schema{Type: "string"} },
		"Hello: batch required in YAML false, in Go true":        func(s map[string]*schema) { s["Hello"].Required = s["Hello"].Required[:4] },
		"Report: grad_sqr required in YAML true, in Go false":    func(s map[string]*schema) { s["Report"].Required = append(s["Report"].Required, "grad_sqr") },
		"Batch.local: type number in YAML, in Go a whole number": func(s map[string]*schema) { s["Batch"].Properties["local"].Type = "number" },
		"Answer.notice: null in YAML false, in Go true": func(s map[string]*schema) {
			s["Answer"].Properties["notice"] = &schema{Ref: "#/components/schemas/Notice"}
		},
		"Welcome.profile[]: type string in YAML, in Go a whole number": func(s map[string]*schema) { s["Welcome"].Properties["profile"].Items.Type = "string" },
		"Other: is not in Go":    func(s map[string]*schema) { s["Other"] = &schema{Type: "object"} },
		"Regime: no such schema": func(s map[string]*schema) { delete(s, "Regime") },
	} {
		c := readContract(t)
		change(c.Components.Schemas)
		if got := c.differences(); !slices.Contains(got, want) {
			t.Errorf("got %q, want %q among it", got, want)
		}
	}
}

// outside is how a complaint about a number out of its range reads.
var outside = regexp.MustCompile(`want [0-9.e+]+( to [0-9.e+]+|$)`)

// limits calls f with each number of an example that the contract limits: where it is, what
// limits it, and how to put another there.
func (c *contract) limits(name string, s *schema, v any, f func(name string, s *schema, set func(float64))) {
	s, _ = c.resolve(s)
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			under, _ := c.resolve(s.Properties[key])
			if _, is := child.(float64); is {
				f(name+"."+key, under, func(x float64) { v[key] = x })
				v[key] = child
			} else {
				c.limits(name+"."+key, under, child, f)
			}
		}
	case []any:
		for _, child := range v {
			c.limits(name+"[]", s.Items, child, f)
		}
	}
}

// The limits of the contract are those of the code: at them a number is in its range, and
// beyond them it is refused.
func TestContract_limits(t *testing.T) {
	c := readContract(t)
	found := 0
	for _, name := range []string{"hello", "report", "checkpoint"} {
		example := tree(t, golden(t, name))
		complaint := func() error {
			text, err := json.Marshal(example)
			if err != nil {
				t.Fatal(err)
			}
			return decodeAny(name, text)
		}
		c.limits(name, c.Components.Schemas[strings.ToUpper(name[:1])+name[1:]], example, func(where string, s *schema, set func(float64)) {
			if s.Minimum == nil || s.Maximum == nil {
				t.Errorf("%s: no limits in the contract", where)
				return
			}
			found++
			for _, limit := range []float64{*s.Minimum, *s.Maximum} {
				set(limit)
				shared := where == "report.batch.local" && limit == 0 // 0 is for answers
				if err := complaint(); err != nil && outside.MatchString(err.Error()) && !shared {
					t.Errorf("%s: %v is allowed, but %v", where, limit, err)
				}
			}
			for _, beyond := range []float64{*s.Minimum - 1, *s.Maximum + max(1, *s.Maximum/1e6)} {
				set(beyond)
				if err := complaint(); !errors.Is(err, ErrInvalid) {
					t.Errorf("%s: %v is not allowed, but passes", where, beyond)
				}
			}
		})
	}
	if found != 33 {
		t.Errorf("%d numbers with limits, want all 33", found)
	}
}
