package strict

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type inner struct {
	GPUs int `json:"gpus"`
}

type outer struct {
	inner
	ID     string            `json:"id"`
	Parts  []inner           `json:"parts"`
	Labels map[string]*inner `json:"labels"`
	Free   any               `json:"free"`
}

func TestDecode_refuses_what_would_be_lost(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":"a","id":"b"}`:                        `key "id" occurs twice`,
		`{"id":"a","ID":"b"}`:                        `key "ID" occurs twice`,
		`{"ID":"a"}`:                                 `unknown key "ID", want "id"`,
		`{"GPUS":1}`:                                 `unknown key "GPUS", want "gpus"`,
		`{"parts":[{"gpus":1},{"Gpus":2}]}`:          `unknown key "Gpus", want "gpus"`,
		`{"labels":{"a":{"gpus":1},"a":{"gpus":1}}}`: `key "a" occurs twice`,
		`{"labels":{"a":{"GPUs":1}}}`:                `unknown key "GPUs", want "gpus"`,
		`{"free":{"x":[{"y":1,"y":2}]}}`:             `key "y" occurs twice`,
		`{"\u0069d":"a","id":"b"}`:                   `key "id" occurs twice`,
		`{"id":"\ud800"}`:                            `half a surrogate pair`,
		`{"id":"\udc00\ud800 \ufffd"}`:               `half a surrogate pair`,
		`{"id":"\\ufffd\ud800"}`:                     `half a surrogate pair`,
		`{"id":"\ud83d\u0041"}`:                      `half a surrogate pair`,
		`{"other":1}`:                                `unknown field "other"`,
		`{"id":"a"} {}`:                              `"{}" after the end`,
		"{\"id\":\"\xff\"}":                          `not UTF-8`,
		`{"gpu\u017f":1}`:                            `want "gpus"`,
	} {
		if err := Decode([]byte(text), new(outer)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A whole pair, and a backslash in front of what looks like half of one, are text.
func TestDecode_accepts_pairs(t *testing.T) {
	var v outer
	if err := Decode([]byte(`{"id":"\ud83d\ude00 \\ud800 \ufffd \uD83D\uDE00"}`), &v); err != nil || v.ID != "😀 \\ud800 \ufffd 😀" {
		t.Errorf("%q: %v", v.ID, err)
	}
}

// All that encoding/json writes is accepted, and becomes the same value.
func TestDecode_accepts_what_json_writes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Custom(func(t *rapid.T) inner { return inner{rapid.Int().Draw(t, "gpus")} })
		in := outer{
			inner: one.Draw(t, "inner"), ID: rapid.String().Draw(t, "id"),
			Parts:  rapid.SliceOfN(one, 1, 3).Draw(t, "parts"),
			Labels: map[string]*inner{},
			Free:   []any{rapid.String().Draw(t, "free"), nil, true, 1.5},
		}
		for _, key := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zA-Z"\\é😀]{0,9}`), 0, 3, rapid.ID[string]).Draw(t, "keys") {
			one := one.Draw(t, "label")
			in.Labels[key] = &one
		}
		text, err := json.MarshalIndent(in, "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		var out outer
		if err := Decode(text, &out); err != nil || !reflect.DeepEqual(in, out) {
			t.Fatalf("%s: %v", text, err)
		}
	})
}
