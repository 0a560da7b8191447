/* Runs the checks of all S-functions. */
$prototypes

int main(void)
{
    int failed = 0;
$checks
    return failed;
}
