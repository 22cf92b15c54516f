package cli

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// canary is a text that a terminal obeys, and that begins a line of its own.
const canary = "job\x1b[2J\u009b1A\rerror: all is lost"

// raw reports whether a terminal obeys any of a text.
func raw(text string) bool { return strings.ContainsAny(text, "\x1b\u009b\r") }

// Whatever is in a text of a user or a file, a terminal obeys none of it.
func TestNothing_shown_is_obeyed(t *testing.T) {
	var out strings.Builder
	cmd := &cobra.Command{}
	cmd.SetOut(&out)
	if err := Show(cmd, false, func(w io.Writer) error { _, err := io.WriteString(w, canary); return err }); err != nil {
		t.Fatal(err)
	}
	if raw(out.String()) || !strings.Contains(out.String(), `\u001b`) {
		t.Errorf("shown: %q", out.String())
	}
	out.Reset()
	if err := WriteJSON(&out, canary); err != nil || raw(out.String()) {
		t.Errorf("JSON: %q, %v", out.String(), err)
	}
	out.Reset()
	PrintError(&out, Hinted(errors.New(canary), "%s", canary))
	if raw(out.String()) || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("error: %q, want two lines", out.String())
	}
}

// An error prints a file's name once.
func TestPrintError_names_a_file_once(t *testing.T) {
	for message, want := range map[string]string{
		"none: open none: no such file": "open none: no such file",
		"z.json: z.json:1: gpus 0":      "z.json:1: gpus 0",
		"run/a.oxj: no job":             "run/a.oxj: no job",
		"a: open b: no such file":       "a: open b: no such file",
	} {
		var out strings.Builder
		if PrintError(&out, errors.New(message)); out.String() != "error: "+want+"\n" {
			t.Errorf("%q: got %q", message, out.String())
		}
	}
}
