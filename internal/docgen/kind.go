package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

type definition struct {
	Spec struct {
		Names struct {
			Kind       string   `yaml:"kind"`
			ShortNames []string `yaml:"shortNames"`
		} `yaml:"names"`
		Versions []struct {
			Schema struct {
				Root *schema `yaml:"openAPIV3Schema"`
			} `yaml:"schema"`
		} `yaml:"versions"`
	} `yaml:"spec"`
}

type schema struct {
	Type        string             `yaml:"type"`
	Format      string             `yaml:"format"`
	Description string             `yaml:"description"`
	Default     any                `yaml:"default"`
	Enum        []string           `yaml:"enum"`
	Pattern     string             `yaml:"pattern"`
	Minimum     *int64             `yaml:"minimum"`
	Maximum     *int64             `yaml:"maximum"`
	MinLength   *int64             `yaml:"minLength"`
	MaxLength   *int64             `yaml:"maxLength"`
	MinItems    *int64             `yaml:"minItems"`
	MaxItems    *int64             `yaml:"maxItems"`
	MinProps    *int64             `yaml:"minProperties"`
	MaxProps    *int64             `yaml:"maxProperties"`
	Required    []string           `yaml:"required"`
	Properties  map[string]*schema `yaml:"properties"`
	Items       *schema            `yaml:"items"`
	Additional  *schema            `yaml:"additionalProperties"`
	Rules       []struct {
		Message string `yaml:"message"`
	} `yaml:"x-kubernetes-validations"`
}

func writeKind(b *bytes.Buffer, text []byte) error {
	var d definition
	if err := yaml.Unmarshal(text, &d); err != nil {
		return err
	}
	if len(d.Spec.Versions) != 1 || d.Spec.Versions[0].Schema.Root == nil {
		return errors.New("want one version, with a schema")
	}
	root := d.Spec.Versions[0].Schema.Root
	fmt.Fprintf(b, "\n## %s\n\n%s\n", d.Spec.Names.Kind, sentence(root.Description))
	fmt.Fprintf(b, "\n`kubectl get %s`.", strings.Join(d.Spec.Names.ShortNames, "`, `kubectl get "))
	for _, r := range root.Rules {
		fmt.Fprintf(b, " %s.", capital(r.Message))
	}
	b.WriteString("\n")
	for _, part := range []string{"spec", "status"} {
		s := root.Properties[part]
		if s == nil {
			return fmt.Errorf("no %s", part)
		}
		fmt.Fprintf(b, "\n| Field of `%s` | Type | Bounds | Meaning |\n| --- | --- | --- | --- |\n", part)
		writeFields(b, "", s)
		for _, r := range s.Rules {
			fmt.Fprintf(b, "\n%s.\n", capital(r.Message))
		}
	}
	return nil
}

func writeFields(b *bytes.Buffer, prefix string, s *schema) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		f := s.Properties[name]
		bounds := f.bounds()
		if slices.Contains(s.Required, name) {
			bounds = append([]string{"required"}, bounds...)
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s | %s |\n", prefix, name, f.kind(), cell(strings.Join(bounds, "; ")), cell(sentence(f.Description)))
		if name == "conditions" {
			continue // standard Kubernetes conditions
		}
		writeFields(b, prefix+name+".", f)
		if f.Items != nil {
			writeFields(b, prefix+name+"[].", f.Items)
		}
	}
}

func (s *schema) kind() string {
	switch {
	case s.Items != nil:
		return "list of " + s.Items.kind()
	case s.Additional != nil:
		return "map of " + s.Additional.kind()
	case s.Format != "":
		return s.Format
	}
	return s.Type
}

var patterns = map[string]string{
	"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$": "lower-case letters and digits, and - between them",
}

func (s *schema) bounds() []string {
	var all []string
	if len(s.Enum) > 0 {
		all = append(all, "`"+strings.Join(s.Enum, "`, `")+"`")
	}
	all = appendRange(all, "", s.Minimum, s.Maximum)
	all = appendRange(all, " character", s.MinLength, s.MaxLength)
	all = appendRange(all, " item", s.MinItems, s.MaxItems)
	all = appendRange(all, " entry", s.MinProps, s.MaxProps)
	if words := patterns[s.Pattern]; words != "" {
		all = append(all, words)
	} else if s.Pattern != "" {
		all = append(all, "`"+s.Pattern+"`")
	}
	for _, r := range s.Rules {
		all = append(all, r.Message)
	}
	if s.Items != nil && len(s.Items.Properties) == 0 {
		for _, bound := range s.Items.bounds() {
			all = append(all, "each: "+bound)
		}
	}
	if s.Default != nil && len(s.Properties) == 0 {
		all = append(all, fmt.Sprintf("default `%v`", s.Default))
	}
	return all
}

func appendRange(all []string, thing string, low, high *int64) []string {
	switch {
	case low != nil && high != nil:
		return append(all, fmt.Sprintf("%d to %d%s", *low, *high, several(thing, *high)))
	case low != nil:
		return append(all, fmt.Sprintf("at least %d%s", *low, several(thing, *low)))
	case high != nil:
		return append(all, fmt.Sprintf("at most %d%s", *high, several(thing, *high)))
	}
	return all
}

func several(thing string, n int64) string {
	switch stem, y := strings.CutSuffix(thing, "y"); {
	case n == 1 || thing == "":
		return thing
	case y:
		return stem + "ies"
	}
	return thing + "s"
}

func sentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text != "" && !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
