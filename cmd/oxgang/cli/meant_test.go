package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// What is nearly one of the words that an error wants is guessed, whatever the error is about; nothing is guessed of what is no list of words.
func TestMeant(t *testing.T) {
	for text, want := range map[string]string{
		`output "jsn", want table, json, yaml or csv`:                                                               "did you mean json?",
		`generate.kind "phily-like", want one of philly-like, helios-like, spike`:                                   "did you mean philly-like?",
		`placer "bestfit" is not known, want one of submesh, best-fit, pack`:                                        "did you mean best-fit?",
		`--to: trace format "siaa", want one of jsonl, sia`:                                                         "did you mean sia?",
		`cluster "hetro64", want a preset (hetero64, lyra8) or a GPU type, nodes and GPUs per node, such as t4:6x4`: "did you mean hetero64?",
		`num_replicas "x3", want a whole number of at least 1`:                                                      "",
		`zone "Berlin", want one like Europe/Berlin, or UTC, or Local`:                                              "",
		`output "xml", want table or csv`:                                                                           "",
		`open nofile: no such file or directory`:                                                                    "",
	} {
		if got := meant(errors.New(text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// Unknown flags and commands are guessed, those of other commands too; a short word is guessed only if one letter is wrong.
func TestUnknown(t *testing.T) {
	root := &cobra.Command{Use: "oxgang"}
	trace := &cobra.Command{Use: "trace"}
	nothing := func(*cobra.Command, []string) {}
	trace.AddCommand(&cobra.Command{Use: "generate", Run: nothing})
	submit := &cobra.Command{Use: "submit", SuggestFor: []string{"run"}, Run: nothing}
	submit.Flags().String("policy", "", "")
	root.AddCommand(trace, submit, &cobra.Command{Use: "ui", Run: nothing}, &cobra.Command{Use: "prune", Run: nothing})
	for word, want := range map[string]string{"generate": "did you mean trace generate?", "run": "did you mean submit?", "submt": "did you mean submit?", "nonsense": `run "oxgang --help"`} {
		said(t, UnknownCommand(root, []string{word}), "hint: "+want)
	}
	for flag, want := range map[string]string{"--polcy": "did you mean --policy?", "--nonsense": `run "oxgang submit --help" for usage`} {
		said(t, FlagError(submit, submit.ParseFlags([]string{flag})), "hint: "+want)
	}
}

func said(t *testing.T, err error, want string) {
	t.Helper()
	var b bytes.Buffer
	if PrintError(&b, err); !strings.Contains(b.String(), want) {
		t.Errorf("said %q, want %q in it", b.String(), want)
	}
}
