package provider

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestAccBundleDownloadResource(t *testing.T) {
	const address = "docs_bundle_download.test"
	acc := newAcceptance(t, domainVariable)
	folder := filepath.ToSlash(t.TempDir())
	file, notes := folder+"/bundle", folder+"/notes"
	if err := os.WriteFile(notes, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := func(revision string) string {
		return acc.export(revision) + fmt.Sprintf(`
resource "docs_bundle_download" "test" {
  job_id     = docs_static_export.test.job_id
  path       = %q
  extract_to = %q
}
`, file, folder+"/site")
	}
	isOnDisk := func(s *terraform.State) error {
		content, err := os.ReadFile(file)
		if sum := s.RootModule().Resources[address].Primary.Attributes["sha256"]; err == nil && sum != checksum(string(content)) {
			err = fmt.Errorf("sha256 is %s, that of the file is %s", sum, checksum(string(content)))
		}
		_, missing := os.Stat(folder + "/site/index.html")
		return errors.Join(err, missing)
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acc.providers,
		Steps: []resource.TestStep{
			{
				Config:           config("1"),
				ConfigPlanChecks: expectAction(address, plancheck.ResourceActionCreate),
				Check:            isOnDisk,
			},
			{
				Config: config("2"),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
					plancheck.ExpectUnknownValue(address, tfjsonpath.New("content_sha256")),
				}},
				Check: isOnDisk,
			},
		},
		CheckDestroy: func(*terraform.State) error {
			left, err := fs.Glob(os.DirFS(folder), "*")
			if len(left) != 1 || left[0] != filepath.Base(notes) {
				err = fmt.Errorf("the folder has %q, want only what the user put there", left)
			}
			return err
		},
	})
	acc.wantWork(t, counts{start: 2, bundle: 4, download: 2})
}

func checksum(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }

// siteBundle is the address of most downloads in the tests.
const siteBundle = "docs_bundle_download.site"

// newDownload applies a download of a bundle of two pages.
func newDownload(t *testing.T) *cli {
	t.Helper()
	c := newHarness(t, simulator.Options{}).cli(t, "")
	c.addBundle("se_1", 2)
	c.write(t, c.download("site", "se_1", ""))
	c.apply(t, 0)
	return c
}

func TestDownloadIsDescribedInTheState(t *testing.T) {
	t.Parallel()
	c := newDownload(t)
	c.service.AddJob(simulator.JobSpec{ID: "se_2", Queue: ended, Run: ended, Archive: []byte("not an archive")})
	c.write(t, c.download("site", "se_1", "")+fmt.Sprintf("resource \"docs_bundle_download\" \"file\" {\n  job_id = \"se_2\"\n  path = terraform_data.path.output\n  sha256 = %q\n}\nresource \"terraform_data\" \"path\" {\n  input = %q\n}\n", checksum("not an archive"), c.inFolder("file")))
	c.report(t, 0, "plan").wantNothingSaid(t, "file") // of a path that is not known yet
	c.apply(t, 0)
	state, file := c.values(t)[siteBundle], c.disk(t, "site")["bundle.tar.gz"]
	wantAttributes(t, state, map[string]any{
		"sha256": checksum(file), "size_bytes": float64(len(file)), "file_count": 4.,
	})
	wantAttributes(t, c.values(t)["docs_bundle_download.file"], map[string]any{"sha256": checksum("not an archive"), "size_bytes": 14., "file_count": nil, "content_sha256": nil})
}

func TestDownloadThatFailsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.addBundle("good", 2)
	h.service.AddJob(simulator.JobSpec{ID: "text", Queue: ended, Run: ended, Archive: []byte("not an archive")})
	h.service.AddJob(simulator.JobSpec{ID: "running", Queue: ended, Run: simulator.Forever})
	tests := map[string]struct {
		jobID, arguments, before string
		said                     []string
	}{
		"other checksum":      {"good", `sha256 = "` + strings.Repeat("0", 64) + `"`, "", []string{"Checksum of the bundle does not match (sha256)", ", but sha256 is " + strings.Repeat("0", 64) + ". This resource wrote no files."}},
		"not an archive":      {"text", "", "", []string{"Could not unpack the bundle (extract_to)", "it is not a tar, gzip-compressed tar, or zip archive. This resource wrote no files."}},
		"job not completed":   {"running", `timeouts { create = "30m" }`, "", []string{"Static export job has not completed", "did not finish within 30m (timeouts.create)"}},
		"file exists":         {"good", "", "put bundle.tar.gz", []string{"Unexpected files at the bundle's path (path)", "bundle.tar.gz\" already exists, and there is no record that this resource wrote it. This resource wrote no files."}},
		"directory not empty": {"good", "", "put site/mine", []string{"Unexpected files at the bundle's path (extract_to)", "site\" already exists, and there is no record that this resource wrote it."}},
		"no directory":        {"good", "", "put site", []string{"Unexpected files at the bundle's path (extract_to)", "site\" is a file."}},
	}
	c := h.cli(t, "")
	var config strings.Builder
	for name, test := range tests {
		c.change(t, label(name), test.before)
		config.WriteString(c.download(label(name), test.jobID, test.arguments))
	}
	c.write(t, config.String())
	plan := c.report(t, 0, "plan")
	said := c.report(t, 1, "apply", "-auto-approve")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if name == "no directory" {
				plan.wantSaid(t, name, "site\" is a file. The apply stops. If this plan replaces a resource without create_before_destroy, Terraform deletes the old files first.")
			} else {
				plan.wantNothingSaid(t, name) // what is there may be what would be written
			}
			said.wantSaid(t, name, append(test.said, "error: ")...)
			left := map[string]string{}
			if _, file, ok := strings.Cut(test.before, "put "); ok {
				left[file] = "mine"
			}
			c.wantDisk(t, label(name), left)
		})
	}
	if values := c.values(t); len(values) > 0 {
		t.Errorf("the state holds %v", values)
	}
}

func TestChecksumThatIsAddedLaterIsComparedWithTheBundle(t *testing.T) {
	t.Parallel()
	c := newDownload(t)
	before := c.disk(t, "site")
	c.write(t, c.download("site", "se_1", `sha256 = "`+strings.Repeat("0", 64)+`"`))
	c.report(t, 1, "apply", "-auto-approve").wantSaid(t, "site", "error: Checksum of the bundle does not match (sha256)")
	c.wantDisk(t, "site", before)
	c.service.ResetRequests()
	c.write(t, c.download("site", "se_1", `sha256 = "`+checksum(before["bundle.tar.gz"])+"\"\n  timeouts { update = \"5m\" }"))
	c.apply(t, 0)
	c.wantCounts(t, counts{})
	c.wantEmptyPlan(t)
}

// TestDownloadOnAFreshDiskInEachPhase is a run of HCP Terraform: the plan is made on one
// disk and applied on another, and both are empty.
func TestDownloadOnAFreshDiskInEachPhase(t *testing.T) {
	t.Parallel()
	c := newDownload(t)
	const dependents = `
resource "terraform_data" "content" {
  triggers_replace = [docs_bundle_download.site.content_sha256, docs_bundle_download.site.file_count, docs_bundle_download.site.job_id]
}
resource "terraform_data" "file" {
  input = docs_bundle_download.site.sha256
}
`
	c.write(t, c.download("site", "se_1", "")+dependents)
	c.apply(t, 0)
	before := c.disk(t, "site")
	repacked := bytes.NewBufferString(before["bundle.tar.gz"]) // the same files in another form
	if err := gzip.NewWriter(repacked).Close(); err != nil {   // which appends an empty part
		t.Fatal(err)
	}
	before["bundle.tar.gz"] = repacked.String()
	for range 2 {
		c.change(t, "site", "rm .")
		plan := c.report(t, 0, "plan", "-out=saved")
		plan.wantNothingSaid(t, "site")
		if plan.planned["site"] != "update" || plan.planned["file"] != "update" || plan.planned["content"] != "" {
			t.Errorf("planned %v", plan.planned)
		}
		c.service.AddJob(simulator.JobSpec{ID: "se_1", Queue: ended, Run: ended, Archive: repacked.Bytes()})
		c.terraform.Run(t, 0, "apply", "saved")
		c.wantDisk(t, "site", before)
		wantAttributes(t, c.values(t)[siteBundle], map[string]any{"sha256": checksum(repacked.String())})
	}
	c.write(t, c.download("site", "se_1", `timeouts { update = "5m" }`)+dependents)
	c.service.ResetRequests()
	if plan := c.report(t, 0, "apply", "-auto-approve"); plan.planned["site"] != "update" || plan.planned["content"] != "" {
		t.Errorf("planned %v on the same disk", plan.planned)
	}
	c.wantCounts(t, counts{})

	c.change(t, "site", "rm .")
	c.addBundle("se_1", 3)
	c.report(t, 1, "apply", "-auto-approve").wantSaid(t, "site", "error: Content of the bundle has changed (job_id)", "The service returned different files for job se_1", `run "terraform apply -replace=ADDRESS"`)
	c.wantDisk(t, "site", map[string]string{})
	c.apply(t, 0, "-replace="+siteBundle)
	c.wantEmptyPlan(t)
}
