package monitor

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestLog(t *testing.T) {
	var out strings.Builder
	l, err := NewLogger(&out, "json", "info")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1e9, 0)
	listen := Log(l, "a100")
	listen(&Timing{Seq: 1, Begun: at, Ended: at.Add(time.Second)}) // below info
	listen(&Timing{Seq: 2, Begun: at, Ended: at.Add(time.Second), Refused: "GPU type t4: allocated 9"})
	r := Logr(l)
	r.V(1).Info("not said")
	r.Error(errors.New("gone"), "watch", "node", "n1")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"level":"WARN","msg":"plan refused","queue":"a100","round":2`) ||
		!strings.Contains(lines[1], `"msg":"watch"`) || !strings.Contains(lines[1], `"err":"gone"`) || !strings.Contains(lines[1], `"node":"n1"`) {
		t.Errorf("got %s", out.String())
	}
}

func TestNewLogger_refuses(t *testing.T) {
	for _, tc := range [][3]string{{"xml", "info", `format "xml"`}, {"json", "loud", `level "loud"`}} {
		if _, err := NewLogger(nil, tc[0], tc[1]); err == nil || !strings.Contains(err.Error(), tc[2]) {
			t.Errorf("%v: got %v", tc, err)
		}
	}
}
