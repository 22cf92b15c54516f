package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/oxgang/oxgang/internal/printable"
)

// Output adds the flag --output, -o to a command. Its values are formats.
func Output(cmd *cobra.Command, format *string, formats ...string) {
	cmd.Flags().StringVarP(format, "output", "o", formats[0], either(formats))
	Complete(cmd, "output", formats)
}

// CheckOutput returns an error unless format is one of formats.
func CheckOutput(format string, formats ...string) error {
	if !slices.Contains(formats, format) {
		return Misused("output %q, want %s", format, either(formats))
	}
	return nil
}

func either(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Write writes v in the format json or yaml, or csv if v is a slice of structs.
func Write(w io.Writer, format string, v any) error {
	switch format {
	case "json":
		return WriteJSON(w, v)
	case "yaml":
		return writeYAML(w, v)
	case "csv":
		return writeCSV(w, v)
	}
	return fmt.Errorf("output %q cannot be written", format)
}

func writeYAML(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var all yaml.Node // JSON is valid YAML
	if err := yaml.Unmarshal(text, &all); err != nil {
		return err
	}
	if err := block(&all); err != nil {
		return err
	}
	var b strings.Builder
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(&all); err != nil {
		return err
	}
	_, err = io.WriteString(w, printable.Text(b.String()))
	return err
}

func block(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		return n.Encode(n.Value)
	}
	n.Style = 0
	for _, c := range n.Content {
		if err := block(c); err != nil {
			return err
		}
	}
	return nil
}

func writeCSV(w io.Writer, v any) error {
	rows := reflect.ValueOf(v)
	if rows.Kind() != reflect.Slice || rows.Type().Elem().Kind() != reflect.Struct {
		return fmt.Errorf("csv of %T, want a slice of structs", v)
	}
	fields, names := columns(rows.Type().Elem())
	out := csv.NewWriter(w)
	if err := out.Write(names); err != nil {
		return err
	}
	for i := range rows.Len() {
		line := make([]string, len(fields))
		for k, f := range fields {
			cell, err := cellOf(rows.Index(i).FieldByIndex(f.Index))
			if err != nil {
				return err
			}
			line[k] = printable.Line(cell)
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func columns(t reflect.Type) (fields []reflect.StructField, names []string) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		fields, names = append(fields, f), append(names, name)
	}
	return fields, names
}

func cellOf(v reflect.Value) (string, error) {
	if zero, ok := reflect.TypeAssert[interface{ IsZero() bool }](v); ok && (v.Kind() != reflect.Pointer || !v.IsNil()) && zero.IsZero() {
		return "", nil
	}
	text, err := json.Marshal(v.Interface())
	if err != nil || string(text) == "null" {
		return "", err
	}
	var plain string
	if json.Unmarshal(text, &plain) == nil {
		return printable.Cell(plain), nil
	}
	return string(text), nil
}

// Few lists the first five names, and states how many others there are.
func Few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
