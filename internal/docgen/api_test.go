package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestWriteKind(t *testing.T) {
	const text = `
spec:
  names: {kind: Pool, shortNames: [p]}
  versions:
    - schema:
        openAPIV3Schema:
          description: A Pool is one
          x-kubernetes-validations: [{rule: "true", message: there is one}]
          properties:
            status: {}
            spec:
              required: [size]
              x-kubernetes-validations: [{rule: "true", message: it only grows}]
              properties:
                size: {type: integer, format: int32, minimum: 1, maximum: 9, description: size is how many}
                mode: {type: string, enum: [A, B], default: A}
                keys: {type: array, maxItems: 3, items: {type: string, minLength: 1, pattern: a|b}}
                parts: {type: array, items: {type: object, properties: {name: {type: string, maxLength: 5}}}}
                labels: {type: object, minProperties: 1, maxProperties: 2, additionalProperties: {type: string}}
`
	var b bytes.Buffer
	if err := writeKind(&b, []byte(text)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"## Pool\n\nA Pool is one.\n\n`kubectl get p`. There is one.\n",
		"| `size` | int32 | required; 1 to 9 | size is how many. |\n",
		"| `mode` | string | `A`, `B`; default `A` |  |\n",
		"| `keys` | list of string | at most 3 items; each: at least 1 character; each: `a\\|b` |  |\n",
		"| `parts[].name` | string | at most 5 characters |  |\n",
		"| `labels` | map of string | 1 to 2 entries |  |\n",
		"\nIt only grows.\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got\n%s\nwant in it\n%s", b.String(), want)
		}
	}
}

func TestWriteNames(t *testing.T) {
	const text = "package p\n\nconst (\n\t// A is\n\t// one.\n\tA = \"x.dev/a\"\n\tB = \"x.dev/b\"\n\tC = \"none\"\n)\n"
	var b bytes.Buffer
	if err := writeNames(&b, []byte(text)); err != nil {
		t.Fatal(err)
	}
	if want := "| `x.dev/a` | `A` | A is one. |\n| `x.dev/b` | `B` | A is one. |\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("got %q, want at its end %q", b.String(), want)
	}
	if err := writeNames(&b, []byte("package p\n")); err == nil {
		t.Error("a file without names was accepted")
	}
}
