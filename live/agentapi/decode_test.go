package agentapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

// A badBody is an example with one thing in it replaced, or all, and how the complaint begins.
type badBody struct{ name, message, old, with, want string }

var deep = strings.Repeat("[", 60_000)

var badBodies = []badBody{
	{"nothing", "report", "", "", "offset 0: unexpected EOF"},
	{"half", "report", `"profile":false}`, "", "offset 207: unexpected EOF"},
	{"a list", "report", "", "[]", "message a list, want an object"},
	{"null", "report", "", "null", "message null, want an object"},
	{"a string", "report", "", `"report"`, `message "report", want an object`},
	{"two messages", "report", "false}", "false} {}", "offset 225: more after the message, want one JSON object"},
	{"garbage behind", "report", "false}", "false}x", "offset 223: more after the message, want one JSON object"},
	{"not UTF-8", "report", `"step":1200`, "\"st\xffp\":1200", "body is not UTF-8"},
	{"unknown key", "report", `"step":1200`, `"step":1200,"speed":9`, `unknown key "speed", want one of ["generation" "sequence"`},
	{"another job's id", "report", `"step":1200`, `"step":1200,"job":"j2"`, `unknown key "job", want one of [`},
	{"unknown key within", "report", `"local":32`, `"local":32,"global":9`, `batch: unknown key "global", want one of ["local" "accumulation"]`},
	{"key in capitals", "report", `"step":1200`, `"Step":1200`, `unknown key "Step"`},
	{"key twice", "report", `"step":1200`, `"step":1200,"step":1`, `key "step" twice, want it once`},
	{"key twice, one escaped", "report", `"step":1200`, `"step":1200,"st\u0065p":1`, `key "step" twice, want it once`},
	{"key twice within", "report", `"local":32`, `"local":32,"local":32`, `batch: key "local" twice, want it once`},
	{"key missing", "report", `"step":1200,`, "", `key "step" is missing`},
	{"key missing within", "report", `"local":32,`, "", `batch: key "local" is missing`},
	{"null where there must be a number", "report", `"step":1200`, `"step":null`, "step null, want a whole number"},
	{"NaN", "report", "0.21", "NaN", "offset 138: invalid character 'N'"},
	{"NaN in quotes", "report", "0.21", `"NaN"`, `step_time "NaN", want a number`},
	{"beyond a float", "report", "0.21", "1e999", "step_time 1e999, want a number of 64 bits"},
	{"a large float", "report", "0.21", "1e308", "step_time 1e+308, want 0 to 86400 s"},
	{"a long number", "report", "0.21", "1" + strings.Repeat("0", 50_000), "step_time " + "1" + strings.Repeat("0", 39) + "..., want a number of 64 bits"},
	{"a float for a whole number", "report", `"step":1200`, `"step":1200.5`, "step 1200.5, want a whole number of 64 bits"},
	{"beyond a whole number", "report", `"step":1200`, `"step":9223372036854775808`, "step 9223372036854775808, want a whole number of 64 bits"},
	{"beyond what JSON carries exactly", "report", `"step":1200`, `"step":9007199254740992`, "step 9007199254740992, want 0 to 9007199254740991"},
	{"true for a number", "report", `"step":1200`, `"step":true`, "step true, want a whole number"},
	{"a number for true", "report", "false", "0", "profile 0, want true or false"},
	{"deep lists", "report", "", deep, "message a list, want an object"},
	{"deep lists within", "report", `{"local":32,"accumulation":1}`, deep, "batch a list, want an object"},
	{"deep objects within", "hello", `[{"batch_size":128,"epochs":10}]`, strings.Repeat(`[{"batch_size":`, 4000), "schedule[0]: batch_size a list, want a whole number"},
	{"negative", "report", "0.21", "-0.21", "step_time -0.21, want 0 to 86400 s; sync_time 0.03, want at most step_time, 0"},
	{"more exchange than step", "report", "0.03", "0.22", "sync_time 0.22, want at most step_time, 0.21"},
	{"no batch", "report", `"local":32`, `"local":0`, "batch: local 0, want 1 to 1000000000 samples"},
	{"too many samples in all passes", "report", `"local":32,"accumulation":1`, `"local":1000000,"accumulation":1000`, "batch: 1000000 samples in 1001 passes, want at most 1000000000 in all"},
	{"two complaints", "report", `"epoch":2,"interval":30.0`, `"epoch":-1,"interval":1e300`, "epoch -1, want 0 to 1000000; interval 1e+300, want 0 to 86400 s"},
	{"another version", "hello", `"version":1`, `"version":2`, "version 2, want 1"},
	{"lines for the log", "hello", `oxgang-py`, `x\nerror: all is lost`, `client "x\nerror: all is lost 0.1.0", want 1 to 100 printable`},
	{"batch limits crossed", "hello", `"max":1024`, `"max":64`, "batch: max 64, want at least init, 128"},
	{"local limits crossed", "hello", `"local_min":1,"local_max":64`, `"local_min":2000,"local_max":64`, "batch: local_min 2000, want at most max, 1024; batch: local_max 64, want at least local_min, 2000, or 0"},
	{"no epochs", "hello", `"batch_size":128,"epochs":10`, `"batch_size":0,"epochs":0`, "schedule: regime 1: batch_size 0, want 1 to 1000000000 samples; schedule: regime 1: epochs 0, want 1 to 1000000 epochs"},
	{"restored from nothing", "hello", `"sha256:15`, `"sha256:E5`, `restored: checksum "sha256:E573e8e1ae3765a7e3b3680dd3a5c9ffb"..., want sha256:`},
	{"way out", "checkpoint", "step-1000", "../../etc/passwd", `path "../../etc/passwd", want a name of letters`},
	{"absolute", "checkpoint", "step-1000", "/etc", `path "/etc", want a name`},
	{"hidden", "checkpoint", "step-1000", ".", `path ".", want a name`},
	{"NUL", "checkpoint", "step-1000", `step\u0000`, `path "step\x00", want a name`},
	{"a name too long", "checkpoint", "step-1000", strings.Repeat("s", 256), `path "` + strings.Repeat("s", 40) + `"..., want a name`},
	{"other checksum", "checkpoint", "sha256:", "md5:", `checksum "md5:1573`},
}

// body returns what is sent.
func (b *badBody) body(t *testing.T) string {
	t.Helper()
	if b.old == "" {
		return b.with
	}
	whole := golden(t, b.message)
	if !strings.Contains(whole, b.old) {
		t.Fatalf("%s: %s.json has no %s", b.name, b.message, b.old)
	}
	return strings.Replace(whole, b.old, b.with, 1)
}

func TestDecode_refuses(t *testing.T) {
	for _, tc := range badBodies {
		t.Run(tc.name, func(t *testing.T) {
			err := decodeAny(tc.message, []byte(tc.body(t)))
			if !errors.Is(err, ErrInvalid) || !strings.HasPrefix(err.Error(), "invalid message: "+tc.want) {
				t.Fatalf("got %v\nwant it to begin with %s", err, tc.want)
			}
			if len(err.Error()) > 600 {
				t.Errorf("error of %d bytes", len(err.Error()))
			}
		})
	}
}

// A message with thousands of things wrong gets a complaint that a person can read.
func TestDecode_complains_shortly(t *testing.T) {
	regimes := strings.TrimSuffix(strings.Repeat(`{"batch_size":0,"epochs":0},`, 2000), ",")
	body := strings.Replace(golden(t, "hello"), `{"batch_size":128,"epochs":10}`, regimes, 1)
	err := decodeAny("hello", []byte(body))
	if err == nil || len(err.Error()) > 1000 || !strings.HasSuffix(err.Error(), "; and 3990 more") {
		t.Errorf("got %.1200v, want ten complaints and how many more there are", err)
	}
}

// The bad bodies find out decoders that lack a check.
func TestBadBodies_see_bugs(t *testing.T) {
	plain := func(body []byte, m message) error { // what encoding/json has by itself
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		return d.Decode(m)
	}
	for name, twin := range map[string]struct {
		decode func([]byte, message) error
		passes []string // some of those that it lets through
	}{
		"no boundary": {plain, []string{"a large float", "negative", "no batch", "way out", "lines for the log", "other checksum"}},
		"no shape": {func(body []byte, m message) error {
			if err := plain(body, m); err != nil {
				return err
			}
			return m.Check()
		}, []string{"key twice", "key twice, one escaped", "key twice within", "key in capitals", "key missing", "two messages", "null where there must be a number", "garbage behind"}},
	} {
		var passed []string
		for _, b := range badBodies {
			m, _ := incoming(b.message)
			if twin.decode([]byte(b.body(t)), m) == nil {
				passed = append(passed, b.name)
			}
		}
		for _, want := range twin.passes {
			if !slices.Contains(passed, want) {
				t.Errorf("%s: %s is refused, want it let through", name, want)
			}
		}
	}
}

func decodeAny(name string, body []byte) error {
	m, of := incoming(name)
	return decode(body, of, m)
}

func incoming(name string) (message, *shape) {
	switch name {
	case "hello":
		return new(Hello), helloShape
	case "report":
		return new(Report), reportShape
	case "checkpoint":
		return new(Checkpoint), checkpointShape
	}
	panic("no message " + name)
}

// What need not be there may be null, or missing.
func TestDecode_accepts(t *testing.T) {
	for _, body := range []string{
		`{"version":1,"client":"x","generation":1,"world_size":1,"batch":{"init":8,"max":8},"restored":null}`,
		"\n {\"version\":1,\"client\":\"x\",\"generation\":1,\"world_size\":1,\"restored\":null,\"samples\":null,\"schedule\":null," +
			`"batch":{"init":8,"max":8,"local_min":null,"adaptive":null},"epochs":null,"restore_seconds":null}` + "\r\n",
	} {
		var h Hello
		if err := decode([]byte(body), helloShape, &h); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if h.Restored != nil || h.Samples != 0 || h.Schedule != nil || h.Batch != (BatchLimits{Init: 8, Max: 8}) {
			t.Errorf("%s: got %+v", body, h)
		}
	}
}
