package eco

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	admission "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/oxgang/oxgang/live/kube/rig"
)

func (m *manager) hook(ctx context.Context, c *rig.Cluster) error {
	if err := m.answers(ctx); err != nil {
		return err
	}
	if origin[m.name].webhooks == "" {
		return nil
	}
	path := filepath.Join(m.dir, origin[m.name].webhooks)
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for d := yaml.NewYAMLOrJSONDecoder(f, 4096); ; {
		var text json.RawMessage
		switch err := d.Decode(&text); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read %s: %w", path, err)
		case len(text) == 0:
			continue // before the first separator
		}
		if err := m.register(ctx, c, text); err != nil {
			return fmt.Errorf("webhooks of %s: %w", path, err)
		}
	}
}

func (m *manager) register(ctx context.Context, c *rig.Cluster, text []byte) error {
	var kind metav1.TypeMeta
	if err := json.Unmarshal(text, &kind); err != nil {
		return err
	}
	hooks := c.Client().AdmissionregistrationV1()
	switch kind.Kind {
	case "MutatingWebhookConfiguration":
		var all admission.MutatingWebhookConfiguration
		if err := json.Unmarshal(text, &all); err != nil {
			return err
		}
		all.Name = string(m.name)
		for i := range all.Webhooks {
			w := &all.Webhooks[i]
			w.NamespaceSelector = m.point(c, &w.ClientConfig)
		}
		_, err := hooks.MutatingWebhookConfigurations().Create(ctx, &all, metav1.CreateOptions{})
		return err
	case "ValidatingWebhookConfiguration":
		var all admission.ValidatingWebhookConfiguration
		if err := json.Unmarshal(text, &all); err != nil {
			return err
		}
		all.Name = string(m.name)
		for i := range all.Webhooks {
			w := &all.Webhooks[i]
			w.NamespaceSelector = m.point(c, &w.ClientConfig)
		}
		_, err := hooks.ValidatingWebhookConfigurations().Create(ctx, &all, metav1.CreateOptions{})
		return err
	}
	return fmt.Errorf("kind %q, want webhook configurations", kind.Kind)
}

func (m *manager) point(c *rig.Cluster, w *admission.WebhookClientConfig) *metav1.LabelSelector {
	path := "/"
	if w.Service != nil && w.Service.Path != nil {
		path = *w.Service.Path
	}
	url := m.webhook + path
	*w = admission.WebhookClientConfig{URL: &url, CABundle: c.Authority.Cert}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpNotIn, Values: []string{metav1.NamespaceSystem},
	}}}
}

func (m *manager) answers(ctx context.Context) error {
	plain := &net.Dialer{Timeout: time.Second}
	dial, address := (&tls.Dialer{NetDialer: plain, Config: &tls.Config{InsecureSkipVerify: true}}).DialContext, strings.TrimPrefix(m.webhook, "https://")
	if origin[m.name].webhooks == "" {
		dial, address = plain.DialContext, m.health
	}
	serves := func() error {
		conn, err := dial(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	return rig.Until(ctx, "its webhooks", func() error { return m.process.Answers(serves) })
}
