package view

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// Delete deletes a job's object and pods, but no newer object of that name. It returns ErrForbidden without the right,
// and ErrNotFound if the object no longer exists.
func (k *Kubectl) Delete(ctx context.Context, s *liveJob) error {
	if s.object == nil {
		return fmt.Errorf("%s: you cannot read its object", s.ID)
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background",
		"preconditions": map[string]string{"uid": s.UID},
	})
	if err != nil {
		return fmt.Errorf("delete %s: %w", s.ID, err)
	}
	plural, _, _ := strings.Cut(resourceOf(s.Kind), ".")
	path := "/apis/" + s.object.Version + "/namespaces/" + url.PathEscape(s.Namespace) + "/" + plural + "/" + url.PathEscape(s.Name)
	_, err = k.input(ctx, strings.NewReader(string(text)), "delete", "--raw", path, "-f", "-")
	return err
}
