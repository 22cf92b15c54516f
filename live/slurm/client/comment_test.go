package client

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var digest = Digest(NewToken("ann"))

func TestParseRequest(t *testing.T) {
	for text, want := range map[string]Request{
		"":                            {},
		"fix the learning rate":       {},
		"OXGANG:order":                {},
		"oxgang:order":                {Part: order},
		"oxgang:order;class=bert":     {Part: order, Class: "bert"},
		"oxgang:elastic;min=2;max=16": {Part: Elastic, Min: 2, Max: 16},
		"oxgang:elastic;min=1;max=1;type=a100+h100":  {Part: Elastic, Min: 1, Max: 1, Type: "a100+h100"},
		"oxgang:elastic;min=1;max=1;class=a=b":       {Part: Elastic, Min: 1, Max: 1, Class: "a=b"},
		"oxgang:elastic;min=1;max=1;token=" + digest: {Part: Elastic, Min: 1, Max: 1, Token: digest},
	} {
		got, err := ParseRequest(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
}

// A word that is wrong is named; nothing of such a comment counts.
func TestParseRequest_names_what_is_wrong(t *testing.T) {
	for text, want := range map[string]string{
		"oxgang:":                            `part "", want order or elastic`,
		"oxgang:resize":                      `part "resize"`,
		"oxgang:elastic":                     "min=0 and max=0",
		"oxgang:elastic;min=2":               "min=2 and max=0",
		"oxgang:elastic;min=4;max=2":         "max at least min",
		"oxgang:elastic;min=0;max=2":         `"min=0": want a whole number from 1`,
		"oxgang:elastic;min=2;max=1e9":       `"max=1e9"`,
		"oxgang:elastic;min=2;max=2;min=1":   `"min=1": given twice`,
		"oxgang:order;min=1":                 "for elastic jobs only",
		"oxgang:order;type=a100":             "for elastic jobs only",
		"oxgang:order;token=" + digest:       "for elastic jobs only",
		"oxgang:elastic;min=1;max=1;token=x": `"token=x": want 43 characters`,
		"oxgang:elastic;min=1;max=1;type=+":  "want GPU types joined by +",
		"oxgang:order;class=":                "want a name",
		"oxgang:order;epoch=3":               `"epoch=3": want min, max, class, type or token`,
		"oxgang:order; class=a":              `" class=a": want min, max`,
		"oxgang:order;class=a;":              `"": want min, max`,
	} {
		got, err := ParseRequest(text)
		if err == nil || !strings.Contains(err.Error(), want) || got != (Request{}) {
			t.Errorf("%q: got %+v, %v, want an error with %q", text, got, err, want)
		}
	}
}

func TestParseMark(t *testing.T) {
	for text, want := range map[string]Mark{
		"":               {},
		"oxgang:":        {},
		"oxgang:nice=0":  {Ordered: true},
		"oxgang:epoch=9": {Epoch: 9},
		"oxgang:nice=-5;hold;stop;generation=3;epoch=7": {Ordered: true, Nice: -5, Held: true, Stopping: true, Generation: 3, Epoch: 7},
		"oxgang:silent;generation=3":                    {Silent: true, Generation: 3},
	} {
		got, err := ParseMark(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
}

// What another program, or a later version, wrote is left alone.
func TestParseMark_knows_what_others_wrote(t *testing.T) {
	for _, text := range []string{
		"billed to ml", "oxgang:hold=yes", "oxgang:epoch=0", "oxgang:epoch=99999999999999999999", "oxgang:nice=99999999999",
		"oxgang:generation=0", "oxgang:hold;hold", "oxgang:place=3",
	} {
		if got, err := ParseMark(text); !errors.Is(err, errForeign) || got != (Mark{}) {
			t.Errorf("%q: got %+v, %v, want ErrForeign", text, got, err)
		}
	}
}

func FuzzComments(f *testing.F) {
	for _, text := range []string{"", "oxgang:order", "oxgang:elastic;min=2;max=16;class=bert", "oxgang:nice=-1;hold;epoch=3", "oxgang:order;;"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := ParseRequest(text); err == nil {
			if again, err := ParseRequest(r.String()); err != nil || again != r {
				t.Errorf("%q: %+v is written as %q, and read as %+v, %v", text, r, r, again, err)
			}
		}
		if m, err := ParseMark(text); err == nil {
			if again, err := ParseMark(m.String()); err != nil || again != m {
				t.Errorf("%q: %+v is written as %q, and read as %+v, %v", text, m, m, again, err)
			}
		}
	})
}
