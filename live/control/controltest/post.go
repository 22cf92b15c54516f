package controltest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

var client = http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
	return net.Dial("unix", os.Getenv("OXGANG_SOCKET"))
}}}

// Post sends a message of kind "hello" or "report" to the scheduler as the calling job, and reads the reply into
// answer.
func Post(kind string, message, answer any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://oxgang/v1/"+kind, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+os.Getenv("OXGANG_TOKEN"))
	r.Header.Set("Content-Type", "application/json")
	got, err := client.Do(r)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err == nil && got.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", kind, got.Status, text)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, answer)
}
