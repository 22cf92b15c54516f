package config

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// File sets keys from a YAML file with nested or dotted names. name is used in messages and becomes the origin of the
// values. An unknown key is an error.
func (c *Config) File(r io.Reader, name string) error {
	var doc yaml.Node
	if err := yaml.NewDecoder(r).Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil
		}
		return fmt.Errorf("%s: %w", name, err)
	}
	return c.Node(&doc, name)
}

// Node sets keys from parsed YAML, like File.
func (c *Config) Node(n *yaml.Node, name string) error {
	if n.Kind == yaml.DocumentNode && len(n.Content) == 1 {
		n = n.Content[0]
	}
	return c.mapping(n, "", name)
}

func (c *Config) mapping(n *yaml.Node, prefix, name string) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("%s:%d: want a mapping of keys to values", name, n.Line)
	}
	var errs []error
	lines := make(map[string]int) // of each key
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := prefix+n.Content[i].Value, n.Content[i+1]
		if first, twice := lines[key]; twice {
			errs = append(errs, fmt.Errorf("%s:%d: %s is set twice, first in line %d", name, n.Content[i].Line, key, first))
			continue
		}
		lines[key] = n.Content[i].Line
		if value.Kind == yaml.MappingNode {
			errs = append(errs, c.mapping(value, key+".", name))
			continue
		}
		if err := c.Set(key, scalar(value), name); err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", name, n.Content[i].Line, err))
		}
	}
	return errors.Join(errs...)
}

func scalar(n *yaml.Node) string {
	if n.Kind != yaml.SequenceNode {
		return n.Value
	}
	values := make([]string, len(n.Content))
	for i, e := range n.Content {
		values[i] = e.Value
	}
	return strings.Join(values, ",")
}

// WriteYAML writes every key with its value, documentation and origin, in the form that File reads. Defaults are
// commented out, because setting a key to its default may change what other keys mean.
func (c *Config) WriteYAML(w io.Writer) error {
	for _, k := range keys {
		mark := ""
		if !c.IsSet(k.Name) {
			mark = "# "
		}
		if _, err := fmt.Fprintf(w, "%s%s: %q # %s (%s)\n", mark, k.Name, k.get(c), k.Doc, c.Origin(k.Name)); err != nil {
			return err
		}
	}
	return nil
}
