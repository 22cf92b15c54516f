package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

// A firefox is a running Firefox with one tab. It is driven over WebDriver BiDi, the protocol of the W3C.
type firefox struct {
	conn net.Conn
	tab  string
	last int // number of the last command
}

// preferences keep Firefox from asking questions and from looking for updates.
const preferences = `user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("services.settings.server", "data:,#remote-settings-dummy/v1");
`

// openFirefox starts Firefox until the test ends. It skips the test without Firefox.
func openFirefox(t *testing.T) viewer {
	t.Helper()
	program, err := exec.LookPath("firefox-esr")
	if err != nil {
		program, err = exec.LookPath("firefox")
	}
	if err != nil {
		t.Skip("no firefox: apt-get install firefox-esr")
	}
	profile := t.TempDir()
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(preferences), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0") //nolint:gosec // a browser
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f := new(firefox)
	t.Cleanup(func() { f.close(t, cmd) })
	if err := f.connect(t.Context(), profile); err != nil {
		t.Fatal(err)
	}
	return f
}

// connect opens the first tab. Firefox writes its address into the profile once it listens.
func (f *firefox) connect(ctx context.Context, profile string) error {
	var at struct {
		Host string `json:"ws_host"`
		Port int    `json:"ws_port"`
	}
	for end := time.Now().Add(time.Minute); at.Port == 0; time.Sleep(50 * time.Millisecond) {
		if text, err := os.ReadFile(filepath.Join(profile, "WebDriverBiDiServer.json")); err == nil {
			_ = json.Unmarshal(text, &at) // half written: read again
		}
		if time.Now().After(end) {
			return errors.New("firefox did not listen within a minute")
		}
	}
	var err error
	if f.conn, _, _, err = ws.Dial(ctx, fmt.Sprintf("ws://%s:%d/session", at.Host, at.Port)); err != nil {
		return fmt.Errorf("firefox: %w", err)
	}
	var tree struct {
		Contexts []struct {
			Context string `json:"context"`
		} `json:"contexts"`
	}
	err = errors.Join(f.conn.SetDeadline(time.Now().Add(limit)), f.does("session.new", fields{"capabilities": fields{}}, nil), f.does("browsingContext.getTree", fields{}, &tree))
	if err == nil && len(tree.Contexts) > 0 {
		f.tab = tree.Contexts[0].Context
		return f.does("browsingContext.setViewport", fields{"context": f.tab, "viewport": fields{"width": width, "height": height}}, nil)
	}
	return err
}

func (f *firefox) close(t *testing.T, cmd *exec.Cmd) {
	if f.conn == nil || f.does("browser.close", fields{}, nil) != nil {
		_ = cmd.Process.Kill()
	}
	if err := cmd.Wait(); err != nil {
		t.Log("firefox:", err)
	}
}

type fields map[string]any

// does executes a command and stores its result. Without subscriptions Firefox sends replies only.
func (f *firefox) does(method string, params fields, result any) error {
	f.last++
	text, err := json.Marshal(fields{"id": f.last, "method": method, "params": params})
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if err := wsutil.WriteClientText(f.conn, text); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if text, err = wsutil.ReadServerText(f.conn); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	var reply struct {
		ID             int
		Error, Message string
		Result         json.RawMessage
	}
	if err := json.Unmarshal(text, &reply); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if reply.Error != "" || reply.ID != f.last {
		return fmt.Errorf("%s: reply %d to %d: %s: %s", method, reply.ID, f.last, reply.Error, reply.Message)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(reply.Result, result)
}

func (f *firefox) open(url string) error {
	return f.does("browsingContext.navigate", fields{"context": f.tab, "url": url, "wait": "complete"}, nil)
}

func (f *firefox) evaluate(script string) (string, error) {
	var of struct {
		Result struct {
			Value string `json:"value"`
		} `json:"result"`
		Exception struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	err := f.does("script.evaluate", fields{"expression": script, "target": fields{"context": f.tab}, "awaitPromise": true}, &of)
	if of.Exception.Text != "" {
		err = errors.New(of.Exception.Text)
	}
	return of.Result.Value, err
}

// click moves the mouse to the middle of an element and presses its button.
func (f *firefox) click(selector string) error {
	var found struct {
		Nodes []fields `json:"nodes"`
	}
	if err := f.does("browsingContext.locateNodes", fields{"context": f.tab, "locator": fields{"type": "css", "value": selector}, "maxNodeCount": 1}, &found); err != nil {
		return err
	}
	if len(found.Nodes) == 0 {
		return fmt.Errorf("no element %s", selector)
	}
	element := fields{"sharedId": found.Nodes[0]["sharedId"]}
	into := fields{"functionDeclaration": "e => e.scrollIntoView({block: 'center'})", "arguments": []fields{element}, "target": fields{"context": f.tab}, "awaitPromise": false}
	mouse := fields{"type": "pointer", "id": "mouse", "actions": []fields{
		{"type": "pointerMove", "x": 0, "y": 0, "origin": fields{"type": "element", "element": element}},
		{"type": "pointerDown", "button": 0},
		{"type": "pointerUp", "button": 0},
	}}
	return errors.Join(f.does("script.callFunction", into, nil), f.does("input.performActions", fields{"context": f.tab, "actions": []fields{mouse}}, nil))
}
